"""Why a filter run does not converge, in words: being written."""
