"""The App's JSON Web Token: RS256, short-lived, issued by the App."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jwt

from simulator.errors import ApiError

if TYPE_CHECKING:
    from datetime import datetime

MAX_LIFETIME_SECONDS = 600
CLOCK_DRIFT_SECONDS = 60


def check_app_jwt(token: str, public_key: str, app_id: int, now: datetime) -> None:
    """Check an App's token as GitHub does.

    Raises:
        ApiError: 401, saying what is wrong with the token.

    """
    try:
        claims = jwt.decode(token, public_key, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False, "verify_nbf": False})
    except jwt.InvalidTokenError as problem:
        raise ApiError(401, "A JSON web token could not be decoded") from problem
    issued, expires = claims.get("iat"), claims.get("exp")
    moment = now.timestamp()
    if not isinstance(issued, int) or issued > moment + CLOCK_DRIFT_SECONDS:
        raise ApiError(401, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
    if not isinstance(expires, int) or expires <= moment:
        raise ApiError(401, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
    if expires > moment + MAX_LIFETIME_SECONDS:
        raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future")
    if str(claims.get("iss")) not in (str(app_id), f"Iv1.{app_id:016x}"):
        raise ApiError(404, "Integration not found")
