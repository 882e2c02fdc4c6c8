"""What all scripts share: flags, training that can be resumed, its record, modes."""
