"""Speed and memory of the submodular core, beside one matrix product and beside other libraries (`make bench`)."""
