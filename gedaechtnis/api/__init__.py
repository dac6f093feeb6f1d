"""The REST door: JSON over HTTP under `/api`, for programs and agents."""
