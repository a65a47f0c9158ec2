"""Operations: what a call does to arrays, with its numpy oracle."""
