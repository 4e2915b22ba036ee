"""Images of any number of axes: filters, measurements, morphology."""
