/** A real browser for tests of the console, with checks that every page must pass. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { root } from '../harness/processes';

const BROWSERS = [
  process.env.BATON_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
/** Screenshots of docs/console.md, which `BATON_SCREENSHOTS=docs` renews. */
const DOCUMENTED = new Set([
  'deploy-refused-light',
  'deployments-light',
  'deployments-narrow',
  'deployment-nodes-light',
  'deployment-topology-dark',
  'execution-timeline-light',
  'execution-failed-dark',
  'execution-log-light',
  'execution-cancelling-narrow',
  'sign-in-light',
  'sign-in-directory-light',
  'overview-light',
  'editor-error-light',
  'update-preview-light',
  'device-question-light',
  'plugin-signed-light',
  'example-nodes-light',
  'example-drift-light',
  'example-update-light',
  'example-plan-light',
  'agents-light',
  'agent-light',
]);
const isForDocs = process.env.BATON_SCREENSHOTS === 'docs';
/** Pictures of all screens are asked for. */
export const areShotsWanted = Boolean(process.env.BATON_SCREENSHOTS);

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export type Look = 'light' | 'dark' | 'narrow';
export const LOOKS: readonly Look[] = ['light', 'dark', 'narrow'];

/** Starts the browser. @throws Error that explains how to install a browser */
export async function launch(): Promise<Browser> {
  const executablePath = BROWSERS.find((path) => path !== undefined && existsSync(path));
  if (!executablePath)
    throw new Error(
      'no browser: apt-get install -y --no-install-recommends chromium, or BATON_CHROMIUM=/path/to/chrome',
    );
  return await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

export interface WatchedPage {
  page: Page;
  /** Forbidden behaviour of the page: requests to other origins, violations of the Content Security Policy, uncaught errors. */
  offences: string[];
  /** Requests so far, as `GET /path`. */
  requests: string[];
}

/** Opens a page in its own context, observed from its first request on. */
export async function openPage(browser: Browser, origin: string): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, timezoneId: 'UTC' });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const offences: string[] = [];
  const requests: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    requests.push(`${request.method()} ${url.pathname}`);
    if (url.protocol.startsWith('http') && url.origin !== origin)
      offences.push(`foreign request: ${request.url()}`);
  });
  page.on('pageerror', (error) => offences.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (/content security policy/i.test(text)) offences.push(`policy: ${text}`);
    // The page shows refusals of the API; the browser also logs them.
    else if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
      offences.push(`console: ${text}`);
  });
  return { page, offences, requests };
}

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

interface Axe {
  getRules(tags: readonly string[]): { ruleId: string; tags: string[] }[];
  run(options: object): Promise<unknown>;
}
interface AxeResult {
  violations: { id: string; help: string; nodes: { target: unknown[]; failureSummary?: string }[] }[];
}

/** Fills in the sign-in form and submits it. */
export async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Violations of WCAG 2.2 AA that axe finds, as readable lines; `colours`: of those rules that another theme can break. */
export async function axe(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  // By the debugger, which the policy of the page does not concern.
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(AXE);
  const { violations } = (await page.evaluate(
    ([tags, only]) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const judged = axe.getRules(tags).filter((rule) => only === 'all' || rule.tags.includes('cat.color'));
      const values = judged.map(({ ruleId }) => ruleId);
      return axe.run({ runOnly: { type: 'rule', values }, resultTypes: ['violations'] });
    },
    [WCAG, rules] as const,
  )) as AxeResult;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')} ${failureSummary ?? ''}`),
  );
}

export async function setLook(page: Page, look: Look): Promise<void> {
  await page.emulateMedia({ colorScheme: look === 'dark' ? 'dark' : 'light', reducedMotion: 'reduce' });
  await page.setViewportSize(look === 'narrow' ? { width: 360, height: 740 } : { width: 1280, height: 820 });
}

/** Waits until changes of size or colour have been rendered. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve))))',
  );
}

/** Whether the page or its content overflows to the right. */
export const isTooWide = async (page: Page): Promise<boolean> =>
  await page.evaluate(
    "[document.documentElement, document.querySelector('#content')].some((one) => one && one.scrollWidth > one.clientWidth)",
  );

export async function shoot(page: Page, name: string): Promise<void> {
  const folder = isForDocs && DOCUMENTED.has(name) ? 'docs/console' : '.baton/console-shots';
  const path = join(root, folder, `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  await page.screenshot({ path });
}
