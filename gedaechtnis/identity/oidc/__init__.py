"""Signing in at an identity provider (OpenID Connect), on top of django-allauth.

`registration` is what the settings say, `provider` what is accepted as proof, `adapters` what becomes of it here,
`claims` which groups follow from it, `views` the two addresses.
"""
