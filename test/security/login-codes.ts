/** Begins a login of a program, asks for its token, and looks its code up with and without rights. @returns both codes */
export async function codesOfLogin(baseUrl: string, cookie: string): Promise<string[]> {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${baseUrl}/api/v3.1/login/device${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const begun = (await (await post('', { client_name: 'a program' })).json()) as Record<string, string>;
  const { device_code: deviceCode = '', user_code: userCode = '' } = begun;
  expect((await post('/token', { device_code: deviceCode })).status).toBe(400);
  expect((await post('/lookup', { user_code: userCode })).status).toBe(401);
  expect((await post('/lookup', { user_code: userCode }, { cookie })).status).toBe(403);
  const own = { cookie, 'x-baton-request': '1' };
  expect((await post('/lookup', { user_code: userCode }, own)).status).toBe(200);
  expect((await post('/deny', { user_code: userCode }, own)).status).toBe(200);
  return [deviceCode, userCode, userCode.replace('-', '')];
}
