"""Where the REST service of the manager is."""
import os

from cloudify import constants


def protocol():
    return os.environ.get(constants.REST_PROTOCOL_KEY, 'https')


def hosts():
    return [host.strip() for host in os.environ.get(constants.REST_HOST_KEY, 'localhost').split(',')]


def port():
    return int(os.environ.get(constants.REST_PORT_KEY, 443))


def certificate():
    """Path of the certificate that the service is checked with, or None for those of the machine."""
    return os.environ.get(constants.LOCAL_REST_CERT_FILE_KEY) or os.environ.get('SSL_CERT_FILE')


def url_host(address):
    return '[%s]' % address if ':' in address and not address.startswith('[') else address


def file_servers():
    return ['%s://%s:%s/resources' % (protocol(), url_host(host), port()) for host in hosts()]
