"""C-Voting, reproduced: recurrent models, test-time voting, and every figure and table of the paper."""
