"""Determines who typed something: the user, the model, or a program that imitates one of them."""
