# What made the files that are here already: known before anything is planned, kept when a run ends.
#
# REQUIRED INPUTS: provenance/<study>.lock.json, where there is one; OUTPUTS
# OUTPUTS:         provenance, which the end of a run writes to that file; Snakemake's records of the files
from snakemake.logging import logger

from cvoting.provenance import Provenance
from cvoting.run_guard import clear_stale_lock
from cvoting.run_record import versions

provenance = Provenance(Path(f"provenance/{S}.lock.json"), sum(OUTPUTS.values(), []), versions())
if workflow.is_main_process:
    try:
        if clear_stale_lock(Path(".snakemake")):
            provenance.export()  # what the killed run had finished
        provenance.restore()
    except CvotingError as error:
        raise WorkflowError(str(error))
    if made := provenance.foreign():
        logger.warning(f"Other versions: {made}. The files stay; `--forceall` makes all of them again.")
