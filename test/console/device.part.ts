/** The page on which people decide about the login of a program: from its address, through the sign-in, to the token. */
import { createClient } from '@baton/client';
import { openPage, signIn, type WatchedPage } from './browser';
import { judge } from './judge';
import type { Stage } from './stage';

export function devicePart(shared: () => Stage): void {
  let stage: Stage;
  let watched: WatchedPage;
  /** A program that nobody has logged in. */
  let program: ReturnType<typeof createClient>;

  beforeAll(async () => {
    stage = shared();
    program = createClient({ baseUrl: stage.fleet.baseUrl });
    watched = await openPage(stage.browser, stage.fleet.baseUrl);
  });
  afterEach(() => expect(watched.offences.splice(0)).toEqual([]));
  afterAll(async () => await watched.page.context().close());

  const begin = () => program.call('beginDeviceLogin', { body: { client_name: 'baton on laptop' } });
  const poll = (code: string) => program.call('redeemDeviceLogin', { body: { device_code: code } });
  const enter = async (code: string) => {
    await watched.page.getByLabel('Code', { exact: true }).fill(code);
    await watched.page.getByRole('button', { name: 'Continue' }).click();
  };
  const press = async (name: string) => await watched.page.getByRole('button', { name, exact: true }).click();

  test('an address with a code leads through the sign-in to the question, and the code leaves the address', async () => {
    const { page } = watched;
    const begun = await begin();
    await page.goto(begun.verification_uri_complete);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(page.url()).toBe(`${stage.fleet.baseUrl}/ui/-/device`);
    await signIn(page, 'admin', stage.fleet.adminPassword);
    await page.getByRole('heading', { name: 'A program asks to act as you' }).waitFor();
    await page.getByText(begun.user_code, { exact: true }).waitFor();
    await page.getByText('baton on laptop').waitFor();
    await page.getByText('127.0.0.1 · the same address as yours').waitFor();
    await judge(page, 'device-question');
    // Nobody approves without having compared the codes.
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await page.getByLabel('I started this login myself, and the program shows this code.').check();
    await press('Approve');
    await page.getByText('Approved. baton on laptop goes on within a few seconds.').waitFor();
    await judge(page, 'device-approved');
    expect(await poll(begun.device_code)).toMatchObject({ username: 'admin' });
    // Addresses stand in logs: no request had the code in one.
    expect(watched.requests.filter((one) => one.includes(begun.user_code))).toEqual([]);
  });

  test('a code is entered, and denied', async () => {
    const { page } = watched;
    const begun = await begin();
    await press('Enter another code');
    await judge(page, 'device-code');
    await enter(begun.user_code.toLowerCase().replace('-', ''));
    await page.getByText(begun.user_code, { exact: true }).waitFor();
    await press('Deny');
    await page.getByText('Denied. The program gets no access.').waitFor();
    await expect(poll(begun.device_code)).rejects.toMatchObject({ errorCode: 'access_denied' });
  });

  test('a wrong code says so, and so does a text that is none', async () => {
    const { page } = watched;
    await page.goto(`${stage.fleet.baseUrl}/device`);
    await enter('BCDF-GHJK');
    await page.getByText(/^No program waits with this code\./).waitFor();
    await judge(page, 'device-wrong');
    await enter('AEIO-AEIO');
    await page.getByText(/^This is no code\./).waitFor();
  });
}
