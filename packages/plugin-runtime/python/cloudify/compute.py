"""Userdata of machines that is made of several parts."""
import email
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

# The first line, the type of such a part, and the ending that cloudbase-init needs to choose a shell.
_KINDS = (
    ('#include-once', 'x-include-once-url', ''),
    ('#include', 'x-include-url', ''),
    ('#cloud-config-archive', 'cloud-config-archive', ''),
    ('#cloud-config', 'cloud-config', ''),
    ('#upstart-job', 'upstart-job', ''),
    ('#part-handler', 'part-handler', ''),
    ('#cloud-boothook', 'cloud-boothook', ''),
    ('#!', 'x-shellscript', '.sh'),
    ('rem cmd', 'x-shellscript', '.cmd'),
    ('#ps1_sysnative', 'x-shellscript', '.ps1'),
    ('#ps1_x86', 'x-shellscript', '.ps1'),
)


def _kind_of(userdata):
    first = userdata.split('\n')[0]
    for begin, kind, ending in _KINDS:
        if first.startswith(begin):
            return kind, ending
    raise ValueError('userdata that begins with %r is of no known kind; expected one of: %s' % (
        first, ', '.join(begin for begin, _, _ in _KINDS)))


def create_multi_mimetype_userdata(userdatas):
    """One text of all parts, in their order. Parts that are made of several already are taken apart first."""
    packed = MIMEMultipart()
    count = 0
    for userdata in userdatas:
        given = email.message_from_string(userdata)
        if given.is_multipart():
            parts = [(part, '') for part in given.walk() if part.get_content_maintype() != 'multipart']
        else:
            kind, ending = _kind_of(userdata)
            parts = [(MIMEText(userdata, _subtype=kind), ending)]
        for part, ending in parts:
            ending = ending or '.%s' % part.get_filename().rpartition('.')[2] if part.get_filename() else ending
            del part['Content-Disposition']
            part.add_header('Content-Disposition', 'attachment', filename='%03d%s' % (count, ending))
            packed.attach(part)
            count += 1
    return packed.as_string(unixfrom=False)
