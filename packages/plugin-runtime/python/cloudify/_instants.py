"""Times as people write them: 2024-01-31 08:00, 08:00 (today), +2 weeks, +1day+10min. Results are naive, in UTC."""
import re
from datetime import datetime, timedelta, timezone as zone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cloudify.exceptions import NonRecoverableError

_PERIOD = re.compile(r'^(\d+) ?(min(?:ute)?|h(?:our)?|d(?:ay)?|w(?:eek)?|mo(?:nth)?|y(?:ear)?)s?$')
_SPANS = {'min': timedelta(minutes=1), 'h': timedelta(hours=1), 'd': timedelta(days=1), 'w': timedelta(weeks=1)}


def _now():
    return datetime.now(zone.utc).replace(tzinfo=None)


def parse_utc_datetime(time_expression, timezone=None):
    """None for nothing. Raises NonRecoverableError for what is no time."""
    if not time_expression:
        return None
    if time_expression.startswith('+'):
        return parse_utc_datetime_relative(time_expression)
    return parse_utc_datetime_absolute(time_expression, timezone)


def parse_utc_datetime_relative(time_expression, base_datetime=None):
    if not time_expression:
        return None
    parts = re.findall(r'\+(\d+ ?[a-z]+) ?', time_expression)
    if not parts:
        raise NonRecoverableError('%s is not a legal time delta' % time_expression)
    found = (base_datetime or _now()).replace(second=0, microsecond=0)
    for part in parts:
        found = parse_and_apply_timedelta(part, found)
    return found


def parse_utc_datetime_absolute(time_expression, timezone=None):
    """In the named zone, else in that of this machine."""
    if not time_expression:
        return None
    local = parse_schedule_datetime_string(time_expression)
    try:
        place = ZoneInfo(timezone) if timezone else None
    except (ZoneInfoNotFoundError, ValueError):
        raise NonRecoverableError('%s is not a recognized timezone' % timezone)
    return (local.replace(tzinfo=place) if place else local).astimezone(zone.utc).replace(tzinfo=None)


def unpack_timedelta_string(expr):
    """2 weeks -> (2, 'week')."""
    found = _PERIOD.match(expr)
    if not found:
        raise NonRecoverableError('%s is not a legal time delta' % expr)
    return int(found.group(1)), found.group(2)


def parse_and_apply_timedelta(expr, date_time):
    number, period = unpack_timedelta_string(expr)
    if period.startswith(('mo', 'y')):
        return _months_later(date_time, number * (12 if period[0] == 'y' else 1))
    return date_time + number * _SPANS['min' if period.startswith('mi') else period[0]]


def _months_later(date_time, months):
    """A day that the month does not have is that many days into the next one."""
    year, month = divmod(date_time.year * 12 + date_time.month - 1 + months, 12)
    first = date_time.replace(year=year, month=month + 1, day=1)
    return first + timedelta(days=date_time.day - 1)


def parse_schedule_datetime_string(date_str):
    for form in ('%Y-%m-%d %H:%M', '%H:%M'):
        try:
            found = datetime.strptime(date_str, form)
        except ValueError:
            continue
        return found if form != '%H:%M' else datetime.combine(datetime.now(), found.time())
    raise NonRecoverableError('%s is not a legal time format. accepted formats are YYYY-MM-DD HH:MM | HH:MM' % date_str)
