/** Blueprints in the console: upload, read what is wrong, mend it in the editor, save; and archives of strangers. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit';
import type { Browser, Locator, Page } from 'playwright-core';
import { tgzOf, zipOf } from '../../services/catalog/src/testing/archives';
import { type Fleet, startFleet } from '../harness/fleet';
import { root } from '../harness/processes';
import { adminClient, archiveOf, call, upload } from '../harness/session';
import { launch, openPage, signIn, type WatchedPage } from './browser';
import { judge } from './judge';

jest.setTimeout(240_000);
const TENANT = '/ui/default_tenant';
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const MARKUP = `<img src=x onerror="document.title='owned'">`;
let fleet: Fleet;
let client: Client;
let browser: Browser;
let watched: WatchedPage;
let page: Page;
let folder: string;
/** Where the manager keeps what it receives. */
let temporary: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-blueprints-'));
  temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  fleet = await startFleet({ mode: 'standalone', workers: 1, env: { TMPDIR: temporary } });
  client = adminClient(fleet);
  browser = await launch();
  watched = await openPage(browser, fleet.baseUrl);
  page = watched.page;
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, 60_000);
afterEach(() => expect(watched.offences.splice(0)).toEqual([]));

const go = async (path: string) => await page.goto(`${fleet.baseUrl}${path}`);
const heading = (name: string) => page.getByRole('heading', { level: 1, name });

/** The dialog of an upload with this file in it. */
async function chooseArchive(file: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Upload' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input[type=file]').setInputFiles(file);
  return dialog;
}

/** An archive file with these files below one folder. */
function archiveFile(name: string, files: Record<string, string>): string {
  const top = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(top, path, '..'), { recursive: true });
    writeFileSync(join(top, path), text);
  }
  const file = join(folder, `${name}.tar.gz`);
  execFileSync('tar', ['czf', file, '-C', folder, name]);
  return file;
}

test('an empty list says what to do; the address that was asked for comes after the sign-in', async () => {
  await go(`${TENANT}/blueprints`);
  await signIn(page, 'admin', fleet.adminPassword);
  await page.getByText('No blueprints in this tenant').waitFor();
  await judge(page, 'blueprints-empty');
});

test('an archive with an error is uploaded from a file, and its error is read with its line', async () => {
  const file = join(folder, 'faulty.tar.gz');
  writeFileSync(file, archiveOf(join(root, 'test/console/blueprints/faulty')));
  const dialog = await chooseArchive(file);
  expect(await dialog.getByLabel('Blueprint id').inputValue()).toBe('faulty');
  await judge(page, 'blueprint-upload');
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await heading('faulty').getByText('Invalid').waitFor();
  await page.getByText('Did you mean “cloudify.nodes.Compute”?').waitFor();
  await judge(page, 'blueprint-invalid');
  await page.getByRole('link', { name: 'blueprint.yaml line 13, column 11' }).click();
  await page.waitForURL(/\/source\?file=blueprint\.yaml&line=13/);
  const line = page.locator('li[aria-current]');
  expect((await line.textContent())?.trim()).toBe('type: cloudify.nodes.Computte');
  await judge(page, 'blueprint-source');
});

test('the error is mended in the editor and saved as a valid blueprint', async () => {
  await page.getByRole('link', { name: 'Mend it in the editor' }).click();
  await page.getByText('1 error').waitFor();
  await page.getByRole('button', { name: 'blueprint.yaml:13:11' }).click();
  await judge(page, 'editor-error');
  await page.keyboard.press('End');
  for (let i = 0; i < 'Computte'.length; i++) await page.keyboard.press('Backspace');
  await page.keyboard.type('Compute');
  await page.keyboard.press('Escape');
  await page.getByText('Valid: the manager takes this blueprint.').waitFor();
  await judge(page, 'editor-valid');
  await page.getByRole('button', { name: 'Save …' }).click();
  const dialog = page.getByRole('dialog');
  // Its upload has failed, so the id may be used again.
  expect(await dialog.getByLabel('Blueprint id').inputValue()).toBe('faulty');
  await judge(page, 'editor-save');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await heading('faulty').getByText('Uploaded').waitFor();
  await page.getByRole('table').getByText('audience').first().waitFor();
  await judge(page, 'blueprint');
  // Rights of files outlive the editor.
  const files = await client.download('getBlueprintResource', {
    params: { tenant_name: 'default_tenant', blueprint_id: 'faulty', rest: '' },
    query: { archive: true },
  });
  const listed = execFileSync('tar', ['tzvf', '-'], {
    input: Buffer.from(await new Response(files.body).arrayBuffer()),
  }).toString();
  expect(listed).toMatch(/-rwxr-xr-x.*scripts\/start\.sh/);
});

test('the topology of the plan is drawn, and stands in a table', async () => {
  await page.getByRole('link', { name: 'Topology' }).click();
  await page.getByRole('img', { name: 'Topology: 2 nodes, 1 relationship' }).waitFor();
  await judge(page, 'blueprint-topology');
  await page.getByLabel('Show as').selectOption('table');
  await page.getByRole('table').getByText('contained in server').waitFor();
  await page.waitForURL(/view=table/);
});

test('the topology of the editor changes while somebody types, and leaving asks', async () => {
  await go(`${TENANT}/blueprints/faulty/edit`);
  await page.getByRole('img', { name: 'Topology: 2 nodes, 1 relationship' }).waitFor();
  await page.getByRole('textbox', { name: 'Text of blueprint.yaml' }).click();
  await page.keyboard.press('Control+Home');
  for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('cache:');
  await page.keyboard.press('Enter');
  await page.keyboard.type('ty');
  await page.getByRole('option', { name: /^type/ }).waitFor();
  await judge(page, 'editor-completion');
  await page.keyboard.press('Enter');
  await page
    .getByRole('option', { name: /cloudify\.nodes\.Root/ })
    .first()
    .waitFor();
  await page.keyboard.type('cloudify.nodes.Root');
  await page.getByRole('img', { name: 'Topology: 3 nodes, 1 relationship' }).waitFor();
  await page.getByRole('link', { name: 'Back to faulty' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Back to faulty' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Leave' }).click();
  await heading('faulty').waitFor();
});

test('a file of its own is added, imported and saved under another id', async () => {
  await go(`${TENANT}/blueprints/new`);
  await page.getByText('Valid: the manager takes this blueprint.').waitFor();
  await page.getByRole('button', { name: 'New file …' }).click();
  await page.getByRole('dialog').getByLabel('Path in the archive').fill('blueprint.yaml.');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByText('There is a file or folder of this name').waitFor();
  await page.getByRole('dialog').getByLabel('Path in the archive').fill('parts/types.yaml');
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByRole('textbox', { name: 'Text of parts/types.yaml' }).click();
  await page.keyboard.insertText('node_types:\n  my.Thing: { derived_from: cloudify.nodes.Root }\n');
  await page.getByRole('button', { name: 'blueprint.yaml main file' }).click();
  await page.getByRole('textbox', { name: 'Text of blueprint.yaml' }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(
    'tosca_definitions_version: cloudify_dsl_1_4\nimports:\n  - cloudify/types/types.yaml\n  - parts/types.yaml\nnode_templates:\n  a: { type: my.Thing }\n  b: { type: my.Thin }\n',
  );
  await page.getByText('Did you mean “my.Thing”?').waitFor();
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('  c: { type: my.Thing }\n');
  await page.getByRole('button', { name: 'Save …' }).click();
  await page.getByRole('dialog').getByLabel('Blueprint id').fill('my-own');
  await page.getByText('the manager will refuse the blueprint').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await heading('my-own').getByText('Invalid').waitFor();
  await page.getByText('Did you mean “my.Thing”?').waitFor();
});

test('the editor imports plugins and blueprints as the manager does', async () => {
  const about = JSON.stringify({
    package_name: 'lamp',
    package_version: '1.0',
    archive_name: 'lamp-1.0-py311-none-any.wgn',
    wheels: [],
    supported_platform: 'any',
  });
  const yaml =
    'plugins:\n  lamp: {executor: host_agent, package_name: lamp, package_version: "1.0"}\nnode_types:\n  lamp.Light: {derived_from: cloudify.nodes.Root}\n';
  const wagon = await tgzOf([{ name: 'lamp/package.json', content: about }]);
  const plugin = zipOf([
    { name: 'lamp.wgn', content: wagon },
    { name: 'plugin.yaml', content: yaml },
  ]);
  await client.upload('uploadPlugin', { content: plugin });
  await upload(client, 'base', archiveOf(join(root, 'examples/hello')));
  await go(`${TENANT}/blueprints/new`);
  const text = page.getByRole('textbox', { name: 'Text of blueprint.yaml' });
  const write = async (imports: string): Promise<void> => {
    await text.click();
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(
      `tosca_definitions_version: cloudify_dsl_1_4\nimports:\n  - cloudify/types/types.yaml\n${imports}node_templates:\n  a: { type: lamp.Ligth }\n`,
    );
  };
  await write('  - plugin:lamp\n  - other--blueprint:base\n');
  await page.getByText('Did you mean “lamp.Light”?').waitFor();
  await page.getByRole('img', { name: /^Topology: [2-9] nodes/ }).waitFor();
  await write('  - plugin:lampp\n');
  await page.getByText('no plugin "lampp" is installed').waitFor();
  await page.getByText('Did you mean “lamp”?').waitFor();
  await write('  - other--blueprint:bass\n');
  await page.getByText('there is no blueprint "bass"').waitFor();
  await write('  - https://example.org/types.yaml\n');
  await page.getByText('the manager fetches it when the blueprint is saved').waitFor();
  await page.getByText('1 warning').waitFor();
});

test('texts and names of a stranger do nothing but stand there', async () => {
  const file = archiveFile('hostile', {
    'blueprint.yaml': `tosca_definitions_version: cloudify_dsl_1_4\ndescription: ${JSON.stringify(MARKUP)}\ninputs:\n  x:\n    description: ${JSON.stringify(MARKUP)}\n    default: 'javascript:alert(1)'\n`,
    'page.html': `${MARKUP}<script>document.title = 'owned'</script>\n`,
    'turned.sh': 'echo "safe \u202e evil" # \u2066\n',
    'data.bin': '\u0000\u0001',
    'long.txt': 'x'.repeat(300_000),
    [`${'deep/'.repeat(20)}${MARKUP.replaceAll('/', '')}`]: 'x',
  });
  await go(`${TENANT}/blueprints`);
  const dialog = await chooseArchive(file);
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await heading('hostile').getByText('Uploaded').waitFor();
  await page.getByText(MARKUP).first().waitFor();
  await page.getByRole('link', { name: 'Source' }).click();
  await page.getByRole('link', { name: 'page.html' }).click();
  await page.getByText(`${MARKUP}<script>`).waitFor();
  await page.getByRole('link', { name: 'turned.sh' }).click();
  await page.getByText('echo "safe [U+202E] evil" # [U+2066]').waitFor();
  await page.getByRole('link', { name: 'data.bin' }).click();
  await page.getByText('This file is not text').waitFor();
  await page.getByRole('link', { name: 'long.txt' }).click();
  await page.getByText(/^x{5000}…$/).waitFor();
  await judge(page, 'blueprint-source-hostile');
  expect(await page.title()).not.toContain('owned');
  expect(await page.locator('main img, main script, a[href^="javascript:"]').count()).toBe(0);
});

test('an archive that is dropped on the area is uploaded', async () => {
  const file = join(folder, 'dropped.tar.gz');
  writeFileSync(file, archiveOf(join(root, 'examples/hello')));
  await go(`${TENANT}/blueprints`);
  await page.getByRole('button', { name: 'Upload' }).first().click();
  const dialog = page.getByRole('dialog');
  // A real drag, by the debugger: the browser drops only where the page allows it.
  const area = (await dialog.getByText('Drop the file here').boundingBox())!;
  const debug = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await debug.send('Input.dispatchDragEvent', {
      type,
      x: area.x + area.width / 2,
      y: area.y + area.height / 2,
      data: { items: [], files: [file], dragOperationsMask: 1 },
    });
  await debug.detach();
  await dialog.getByText('dropped.tar.gz').waitFor();
  expect(await dialog.getByLabel('Blueprint id').inputValue()).toBe('dropped');
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await heading('dropped').getByText('Uploaded').waitFor();
});

test('an upload that is cancelled under way leaves nothing behind', async () => {
  const kept = () => readdirSync(temporary).filter((name) => name.startsWith('baton-temporary-'));
  const file = join(folder, 'large.tar.gz');
  writeFileSync(file, randomBytes(8 * 1024 * 1024));
  await go(`${TENANT}/blueprints`);
  const dialog = await chooseArchive(file);
  const debug = await page.context().newCDPSession(page);
  const line = { offline: false, latency: 0, downloadThroughput: -1 };
  await debug.send('Network.enable');
  await debug.send('Network.emulateNetworkConditions', { ...line, uploadThroughput: 512 * 1024 });
  const before = kept();
  const stopped = page.waitForEvent('requestfailed', (one) => one.url().includes('/blueprints/large'));
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await dialog.getByText(/ of .+ sent$/).waitFor();
  // The manager has a part of it in a file already.
  await eventually(() => expect(kept().length).toBeGreaterThan(before.length));
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await stopped;
  await eventually(() => expect(kept()).toEqual(before));
  await debug.send('Network.emulateNetworkConditions', { ...line, uploadThroughput: -1 });
  await debug.detach();
  expect(page.url()).toBe(`${fleet.baseUrl}${TENANT}/blueprints`);
  const got = call(client, 'getBlueprint', { blueprint_id: 'large' });
  await expect(got).rejects.toMatchObject({ status: 404 });
  // The id is free, and the screen as it was.
  writeFileSync(file, archiveOf(join(root, 'examples/hello')));
  await chooseArchive(file);
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await heading('large').getByText('Uploaded').waitFor();
});

test('what uses a blueprint prevents its deletion; another one goes, and leaves the list by itself', async () => {
  await call(client, 'createDeployment', { id: 'web' }, { blueprint_id: 'faulty' });
  await upload(client, 'spare', archiveOf(join(root, 'examples/hello')));
  await go(`${TENANT}/blueprints`);
  await page.getByRole('link', { name: 'spare' }).waitFor();
  await judge(page, 'blueprints');
  await page.getByRole('link', { name: 'faulty' }).click();
  await page.getByRole('link', { name: 'Uses' }).click();
  await page.getByRole('link', { name: 'web' }).waitFor();
  await judge(page, 'blueprint-uses');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('1 deployment made of it: delete them first.').waitFor();
  expect(
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the blueprint' }).isDisabled(),
  ).toBe(true);
  await judge(page, 'blueprint-delete');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  await go(`${TENANT}/blueprints/spare/overview`);
  await page.getByRole('button', { name: 'Change labels …' }).click();
  const labels = page.getByRole('dialog');
  for (const [row, value] of ['prod', 'test'].entries()) {
    await labels.getByRole('button', { name: 'Add a label' }).click();
    await labels.getByLabel(`Key of label ${row + 1}`).fill('env');
    await labels.getByLabel(`Value of label ${row + 1}`).fill(value);
  }
  await page.getByRole('dialog').getByRole('button', { name: 'Save labels' }).click();
  await page.getByRole('listitem').getByText('prod').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByLabel('Type this to confirm:').fill('spare');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the blueprint' }).click();
  await page.getByRole('link', { name: 'hostile' }).waitFor();
  expect(await page.getByRole('link', { name: 'spare' }).count()).toBe(0);
});

test('an icon is set, and shown in the list; what is no image is refused in words', async () => {
  await go(`${TENANT}/blueprints/faulty/overview`);
  const dialog = page.getByRole('dialog');
  const choose = dialog.locator('input[type=file]');
  await page.getByRole('button', { name: 'Change the icon …' }).click();
  await choose.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('<svg/>') });
  await dialog.getByRole('button', { name: 'Save the icon' }).click();
  await page.getByText('the icon is not a PNG image').waitFor();
  await choose.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PNG });
  await dialog.getByRole('button', { name: 'Save the icon' }).click();
  await page.locator('h1 img[src^="blob:"]').waitFor();
  await page.getByRole('link', { name: 'All blueprints' }).click();
  await page.locator('[role=row] img[src^="blob:"]').waitFor();
  expect(await page.locator('[role=row] img').count()).toBe(1);
});

test('an address that is none is refused before it is sent', async () => {
  await page.getByRole('button', { name: 'Upload' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address', { exact: true }).check();
  await dialog.getByLabel('Address of the archive').fill('javascript:alert(1)');
  await dialog.getByLabel('Blueprint id').fill('from-afar');
  const before = watched.requests.length;
  await page.keyboard.press('Enter');
  await page.getByText('An address begins with http:// or https://.').waitFor();
  expect(watched.requests.slice(before).filter((one) => one.startsWith('PUT'))).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
});

test('an upload elsewhere appears by itself', async () => {
  await upload(client, 'elsewhere', archiveOf(join(root, 'examples/hello')));
  await page.getByRole('link', { name: 'elsewhere' }).waitFor();
});

test('who may only look is offered nothing that changes a blueprint', async () => {
  const name = { username: 'vera', password: 'a long enough password' };
  await call(client, 'createUser', {}, { ...name, role: 'default' });
  const membership = { tenant_name: 'default_tenant', username: 'vera', role: 'viewer' };
  await call(client, 'addTenantUser', {}, membership);
  const { page: hers, offences } = await openPage(browser, fleet.baseUrl);
  await hers.goto(`${fleet.baseUrl}${TENANT}/blueprints/faulty/overview`);
  await signIn(hers, name.username, name.password);
  await hers.getByRole('table').getByText('audience').first().waitFor();
  expect(await hers.getByRole('button', { name: /Delete|Change|Widen/ }).count()).toBe(0);
  expect(await hers.getByRole('link', { name: /Deploy$|Edit/ }).count()).toBe(0);
  await hers.getByRole('link', { name: 'All blueprints' }).click();
  await hers.getByRole('link', { name: 'faulty' }).waitFor();
  expect(await hers.getByRole('button', { name: 'Upload' }).count()).toBe(0);
  await hers.context().close();
  expect(offences).toEqual([]);
});
