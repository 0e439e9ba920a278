"""What the DAG in the folder above is made of."""
