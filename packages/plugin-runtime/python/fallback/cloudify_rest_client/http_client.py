"""Requests to the REST service, with nothing but the standard library."""
import base64
import json
import logging
import shutil
import socket
import ssl
import time
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener

from cloudify.manager_place import url_host
from cloudify_rest_client import exceptions

# Requests are repeated for that many seconds when nobody took them, and reads also when a service was away.
_PATIENCE = 60
_UNAVAILABLE = (502, 503)
_TIMEOUT = 300


def query_text(value):
    return str(value).lower() if isinstance(value, bool) else value


class HTTPClient(object):
    def __init__(self, host, port=None, protocol='http', api_version='v3.1', headers=None, query_params=None, cert=None,
                 trust_all=False, username=None, password=None, token=None, tenant=None, timeout=None, **_):
        self.hosts = list(host) if isinstance(host, (list, tuple)) else [host]
        self.port = port or (443 if protocol == 'https' else 80)
        self.protocol = protocol
        self.api_version = api_version
        self.headers = dict(headers or {})
        self.query_params = dict(query_params or {})
        self.timeout = timeout[-1] if isinstance(timeout, (list, tuple)) else timeout or _TIMEOUT
        self.logger = logging.getLogger('cloudify.rest_client.http')
        if tenant:
            self.headers['Tenant'] = tenant
        if token:
            self.headers['Authentication-Token'] = token
        if username and password:
            plain = ('%s:%s' % (username, password)).encode('utf-8')
            self.headers['Authorization'] = 'Basic ' + base64.b64encode(plain).decode('ascii')
        # A proxy of the environment leads to the outside, never to the manager.
        handlers = [ProxyHandler({})]
        if protocol == 'https':
            context = ssl.create_default_context(cafile=cert or None)
            if trust_all:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            handlers.append(HTTPSHandler(context=context))
        self._opener = build_opener(*handlers)

    @property
    def host(self):
        return self.hosts[0]

    @property
    def base_url(self):
        return '%s://%s:%s' % (self.protocol, url_host(self.host), self.port)

    @property
    def url(self):
        return '%s/api/%s' % (self.base_url, self.api_version)

    def request(self, verb, uri, data=None, params=None, headers=None, output_file=None):
        """The answer as JSON, or the output file that it was written to. data: a dictionary, bytes or an open file."""
        query = dict(self.query_params, **(params or {}))
        pairs = [(name, query_text(v)) for name, value in query.items() if value is not None
                 for v in (value if isinstance(value, (list, tuple)) else [value])]
        sent = dict(self.headers, **(headers or {}))
        body = data
        if isinstance(data, (dict, list)):
            body = json.dumps(data).encode('utf-8')
            sent['Content-Type'] = 'application/json'
        started = time.time()
        wait = 1
        while True:
            address = self.url + quote(uri, safe='/%~') + ('?' + urlencode(pairs) if pairs else '')
            try:
                with self._opener.open(Request(address, body, sent, method=verb), timeout=self.timeout) as answer:
                    return self._read(answer, output_file)
            except HTTPError as error:
                # Of a write part may have been done.
                if verb != 'GET' or error.code not in _UNAVAILABLE or time.time() - started > _PATIENCE:
                    raise _error_of(error)
            except URLError as error:
                is_refused = isinstance(error.reason, (ConnectionRefusedError, socket.gaierror))
                if not is_refused or time.time() - started > _PATIENCE:
                    raise
                self.hosts.append(self.hosts.pop(0))
            time.sleep(wait)
            wait = min(wait * 1.5, 10)

    @staticmethod
    def _read(answer, output_file):
        if output_file:
            with open(output_file, 'wb') as target:
                shutil.copyfileobj(answer, target)
            return output_file
        text = answer.read()
        return json.loads(text.decode('utf-8')) if text else None

    def get(self, uri, data=None, params=None, headers=None, _include=None, **_):
        fields = {'_include': ','.join(_include)} if _include else {}
        return self.request('GET', uri, data, dict(params or {}, **fields), headers)

    def put(self, uri, data=None, params=None, headers=None, **_):
        return self.request('PUT', uri, data, params, headers)

    def post(self, uri, data=None, params=None, headers=None, **_):
        return self.request('POST', uri, data, params, headers)

    def patch(self, uri, data=None, params=None, headers=None, **_):
        return self.request('PATCH', uri, data, params, headers)

    def delete(self, uri, data=None, params=None, headers=None, **_):
        return self.request('DELETE', uri, data, params, headers)


def _error_of(answer):
    text = answer.read().decode('utf-8', 'replace')
    try:
        told = json.loads(text)
        message = told.get('message') or told.get('detail') or text
    except (ValueError, AttributeError):
        told, message = {}, text or answer.reason
    code = told.get('error_code') or ('not_modified' if answer.code == 304 else None)
    kind = exceptions.ERROR_MAPPING.get(code, exceptions.CloudifyClientError)
    return kind(message, told.get('server_traceback'), answer.code, error_code=code, response=told)
