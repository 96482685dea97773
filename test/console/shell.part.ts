/** The frame in a real browser: the menu, the command palette, saved views, preferences that follow a person; and schedules. */
import { call } from '../harness/session';
import { setLook } from './browser';
import { judge } from './judge';
import type { Stage } from './stage';

export function shellPart(shared: () => Stage): void {
  let stage: Stage;
  let { client, page, go, dialog, press, send, isClosed } = {} as Stage;

  beforeAll(async () => {
    stage = shared();
    ({ client, page, go, dialog, press, send, isClosed } = stage);
    await call(client, 'putSecret', { secret_key: 'ledger' }, { value: 'x' });
    await go('/secrets');
  });
  afterEach(async () => expect(await stage.offences()).toEqual([]));

  const paletteReady = async () => await page.getByRole('combobox').and(page.locator(':focus')).waitFor();

  test('the menu leads everywhere, on a small screen behind a button', async () => {
    await page.getByRole('heading', { name: 'Secrets', level: 1 }).waitFor();
    for (const name of ['Plugins', 'Sites', 'Filters', 'Schedules', 'Secrets']) {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    await setLook(page, 'narrow');
    await press('Open the menu');
    await judgeMenu();
    await page.getByRole('link', { name: 'Sites', exact: true }).click();
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Filters', exact: true }).waitFor({ state: 'hidden' });
    await setLook(page, 'light');
  });

  /** The menu itself closes with another size; here it is judged as it stands. */
  async function judgeMenu(): Promise<void> {
    await page.getByRole('link', { name: 'Filters', exact: true }).waitFor();
    await judge(page, 'menu');
    await setLook(page, 'narrow');
  }

  test('a schedule is made by a form, shows its next times, is disabled, changed and deleted', async () => {
    await go('/schedules');
    await page.getByText('No schedules in this tenant').waitFor();
    await page.getByRole('button', { name: 'New schedule' }).first().click();
    await dialog().getByLabel('Deployment').fill('web-shop');
    await dialog().getByRole('option', { name: 'install', exact: true }).waitFor({ state: 'attached' });
    await dialog().getByLabel('Workflow').selectOption('install');
    await dialog().getByLabel('Name').fill('nightly');
    await send('Create the schedule');
    await dialog().getByText('The first time is missing.').waitFor();
    await dialog()
      .getByLabel(/^First time/)
      .fill('2040-01-02T03:00');
    await judge(page, 'schedule-form');
    await send('Create the schedule');
    await isClosed();
    await judge(page, 'schedules');
    await page.getByRole('link', { name: 'nightly' }).click();
    await page.getByRole('region', { name: 'Times to come' }).getByText('Jan 02, 2040').waitFor();
    await page.getByText('every day').waitFor();
    await press('Disable');
    await page.getByText('It is disabled: at these times it would run.').waitFor();
    await press('Edit');
    await dialog().getByLabel('Every', { exact: false }).first().fill('2');
    await dialog().getByLabel('Unit').selectOption('weeks');
    await dialog().getByLabel('Mon').check();
    await send('Save');
    await page.getByText('every 2 weeks, on Mon').waitFor();
    await judge(page, 'schedule');
    await press('Delete');
    await send('Delete the schedule');
    await page.getByText('No schedules in this tenant').waitFor();
  });

  test('past times say what became of them', async () => {
    await call(
      client,
      'createExecutionSchedule',
      { schedule_id: 'often' },
      { workflow_id: 'check_status', rrule: 'FREQ=SECONDLY;INTERVAL=1', stop_on_fail: true },
      { deployment_id: 'intranet' },
    );
    await go('/schedules/intranet/often');
    const past = page.getByRole('region', { name: 'What became of past times' });
    // It is read again when somebody comes back to it.
    for (let tries = 0; tries < 60 && (await past.getByText('Refused').count()) === 0; tries++) {
      const answered = page.waitForResponse((answer) => answer.url().includes('/occurrences'));
      await press('Load again');
      await answered;
    }
    await past.getByText('Refused').first().waitFor();
    // It is not installed, so there is nothing to check.
    await past.getByText('is not available now').first().waitFor();
    // The list tells the latest of them: refused, or skipped when the manager came too late to it.
    const schedule = [{ schedule_id: 'often' }, undefined, { deployment_id: 'intranet' }] as const;
    await call(client, 'updateExecutionSchedule', schedule[0], { enabled: false }, schedule[2]);
    const { latest_skip } = await call(client, 'getExecutionSchedule', ...schedule);
    await go('/schedules');
    const row = page.getByRole('row').filter({ hasText: 'often' });
    await row
      .getByText(latest_skip.outcome === 'refused' ? 'Refused' : 'Skipped')
      .last()
      .waitFor();
    await row.getByText(latest_skip.reason).waitFor();
    await judge(page, 'schedules-skipped');
    await call(client, 'deleteExecutionSchedule', ...schedule);
  });

  test('a view keeps the filters of a list under a name', async () => {
    await go('/secrets?_search=ledg');
    await page.getByRole('link', { name: 'ledger' }).waitFor();
    await press('Views');
    await page.getByLabel('Keep these filters as').fill('ledgers');
    await press('Keep the view');
    await page.getByRole('link', { name: 'ledgers' }).waitFor();
    await judge(page, 'views');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Views' }).and(page.locator(':focus')).waitFor();
    await go('/secrets');
    await page.getByRole('link', { name: 'hello_signature' }).waitFor();
    await press('Views');
    await page.getByRole('link', { name: 'ledgers' }).click();
    await page.waitForURL(/_search=ledg/);
    await page.getByRole('link', { name: 'hello_signature' }).waitFor({ state: 'detached' });
    await press('Views');
    await press('Delete the view ledgers');
    await page.getByText('No views of this list yet.').waitFor();
  });

  test('the palette finds places, actions and things by the keyboard alone', async () => {
    await go('/secrets');
    await page.getByRole('link', { name: 'ledger' }).waitFor();
    await page.keyboard.press('Control+k');
    await paletteReady();
    await page.keyboard.type('web');
    await page
      .getByRole('option', { name: /web-blog/ })
      .first()
      .waitFor();
    await judge(page, 'palette');
    await page.keyboard.press('Escape');
    await isClosed();
    await page.keyboard.press(':');
    await paletteReady();
    await page.keyboard.type('new secret');
    await page.getByRole('option', { name: 'New secret' }).waitFor();
    await page.keyboard.press('Enter');
    await dialog().getByLabel('Key').waitFor();
    await page.keyboard.press('Escape');
    await isClosed();
    await page.keyboard.press('Control+k');
    await paletteReady();
    await page.keyboard.type('intranet');
    await page
      .getByRole('option', { name: /intranet/ })
      .first()
      .waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/deployments\/intranet/);
  });

  test('theme and zone follow the person to another browser', async () => {
    await press('Account admin');
    const kept = page.waitForResponse(
      (answer) => answer.url().endsWith('/user/preferences') && answer.request().method() === 'PUT',
    );
    await page.getByLabel('Colours').selectOption('dark');
    await kept;
    const admin = { username: 'admin', password: stage.fleet.adminPassword };
    const other = await stage.openAs(admin, '/secrets');
    await other.locator('html[data-theme=dark]').waitFor();
    await page.getByLabel('Colours').selectOption('system');
  });
}
