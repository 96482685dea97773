/** Variables of the worker's environment that scripts get; other variables may hold keys. */
const PASSED_ENV = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'LANG',
  'LANGUAGE',
  'TZ',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'LOCAL_REST_CERT_FILE',
];

/** Returns whether scripts get the variable of that name from the worker's environment. */
export function isSeenByScripts(name: string): boolean {
  return PASSED_ENV.includes(name) || name.startsWith('LC_');
}
