#!/usr/bin/env node
// A program with the commands of terraform that the plugin uses, for machines without it. It reads modules with variables,
// outputs and terraform_data, and keeps the files that terraform keeps: terraform.tfstate (version 4) and plans. A test
// holds its documents equal to those of the real one. It is no terraform: it knows no providers, modules, functions or backends.
'use strict';
const { createHash, randomUUID } = require('node:crypto');
const { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const { readBlocks } = require('./read-blocks.cjs');

const VERSION = '1.11.4';
const STATE = 'terraform.tfstate';
const fail = (text, code = 1) => {
  process.stderr.write(`\nError: ${text}\n\n`);
  process.exit(code);
};
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** All .tf and .tf.json files of the folder as one. */
function readModule() {
  const module = { variable: {}, resource: {}, output: {} };
  const files = readdirSync('.').filter((name) => /\.tf(\.json)?$/.test(name));
  if (files.length === 0) fail('No configuration files');
  for (const file of files) {
    const content = file.endsWith('.json') ? readJson(file) : readBlocks(readFileSync(file, 'utf8'));
    for (const part of Object.keys(module))
      for (const [name, value] of Object.entries(content[part] ?? {}))
        module[part][name] = part === 'resource' ? { ...module[part][name], ...value } : value;
  }
  return module;
}

function readVariables(module, files) {
  const given = Object.assign({}, ...files.map(readJson));
  const values = {};
  for (const [name, declared] of Object.entries(module.variable)) {
    const value = given[name] ?? process.env[`TF_VAR_${name}`] ?? declared.default;
    if (value === undefined)
      fail('No value for required variable\n\nThe root module input variable "' + name + '" is not set');
    values[name] = value;
  }
  return values;
}

/** Fills `${...}` with variables, attributes of resources, and the digest of a file. A text that is one expression keeps its type. */
function fill(value, scope) {
  if (Array.isArray(value)) return value.map((one) => fill(one, scope));
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, scope)]));
  if (typeof value !== 'string') return value;
  const whole = /^\$\{([^}]*)\}$/.exec(value);
  if (whole) return evaluate(whole[1].trim(), scope);
  return value.replace(/\$\{([^}]*)\}/g, (_, text) => String(evaluate(text.trim(), scope)));
}

function evaluate(text, { variables, resources, seen }) {
  const file = /^fileexists\((.+)\) \? filesha256\(\1\) : "([^"]*)"$/.exec(text);
  if (file) {
    const path = fill(`\${${file[1]}}`, { variables, resources });
    return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : file[2];
  }
  const [, kind, name, attribute] =
    /^(var|terraform_data)\.([A-Za-z0-9_]+)(?:\.([a-z_]+))?$/.exec(text) ?? [];
  if (kind === 'var') return variables[name];
  if (kind === 'terraform_data') {
    seen?.add(`terraform_data.${name}`);
    return resources[name]?.[attribute] ?? null;
  }
  return fail(`Invalid expression: ${text}`);
}

const readStateFile = () =>
  existsSync(STATE) && readFileSync(STATE, 'utf8').trim() !== '' ? readJson(STATE) : null;

function writeState(state) {
  state.serial += 1;
  writeFileSync(STATE, `${JSON.stringify(state, null, 2)}\n`);
}

const emptyState = () => ({
  version: 4,
  terraform_version: VERSION,
  serial: 0,
  lineage: randomUUID(),
  outputs: {},
  resources: [],
  check_results: null,
});

const typeOf = (value) =>
  Array.isArray(value)
    ? ['tuple', value.map(typeOf)]
    : value && typeof value === 'object'
      ? ['object', Object.fromEntries(Object.entries(value).map(([key, one]) => [key, typeOf(one)]))]
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value;
const typed = (value) => (value === null || value === undefined ? null : { value, type: typeOf(value) });
const attributesOf = (resource) => resource.instances[0].attributes;
/** A state writes values of any type with their types; a plan writes the values alone. */
const plain = ({ id, input, output, triggers_replace: triggers }) => ({
  id,
  input: input?.value ?? null,
  output: output?.value ?? null,
  triggers_replace: triggers?.value ?? null,
});

/** A value that is known when the resource is there. */
const later = (name, attribute) => ({ __later: [name, attribute] });
const isLater = (value) => value !== null && typeof value === 'object' && '__later' in value;

/** Puts the values in that were not known when the plan was made. */
function known(value, resources) {
  if (isLater(value)) return resources[value.__later[0]][value.__later[1]];
  if (Array.isArray(value)) return value.map((one) => known(one, resources));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, known(one, resources)]));
}

/** A value for the document of a plan: without what is not known, and marks of it. */
const withoutLater = (value) =>
  value && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .filter(([, one]) => !isLater(one))
          .map(([key, one]) => [key, withoutLater(one)]),
      )
    : value;
const marksOf = (value) =>
  Object.fromEntries(
    Object.entries(value ?? {})
      .filter(([, one]) => isLater(one))
      .map(([key]) => [key, true]),
  );

/** Decides about each resource, in the order of names. */
function makePlan(module, variables, state, mode) {
  const present = Object.fromEntries(
    (state?.resources ?? []).map((one) => [one.name, plain(attributesOf(one))]),
  );
  const declared = mode === 'destroy' ? {} : (module.resource.terraform_data ?? {});
  const resources = { ...present };
  const changes = [];
  for (const name of [...new Set([...Object.keys(declared), ...Object.keys(present)])].sort()) {
    const before = present[name] ?? null;
    const seen = new Set();
    const wanted = declared[name]
      ? fill(
          { input: declared[name].input ?? null, triggers_replace: declared[name].triggers_replace ?? null },
          { variables, resources, seen },
        )
      : null;
    changes.push({ name, ...decide(before, wanted), dependencies: [...seen].sort() });
    const isNew = wanted && changes.at(-1).actions.includes('create');
    if (wanted)
      resources[name] = {
        ...before,
        ...wanted,
        output: wanted.input,
        ...(isNew ? { id: later(name, 'id') } : {}),
      };
  }
  return { changes, variables, lineage: state?.lineage ?? '', serial: state?.serial ?? 0 };
}

function decide(before, wanted) {
  if (before === null)
    return {
      actions: ['create'],
      before,
      after: wanted,
      unknown: { id: true, output: wanted.input !== null },
    };
  if (wanted === null) return { actions: ['delete'], before, after: null, unknown: {} };
  const same = (key) => JSON.stringify(before[key]) === JSON.stringify(wanted[key]);
  if (!same('triggers_replace'))
    return {
      actions: ['delete', 'create'],
      before,
      after: wanted,
      unknown: { id: true, output: wanted.input !== null },
    };
  if (!same('input'))
    return { actions: ['update'], before, after: { ...before, ...wanted }, unknown: { output: true } };
  return { actions: ['no-op'], before, after: before, unknown: {} };
}

const count = (plan, ...actions) =>
  plan.changes.filter((one) => actions.some((action) => one.actions.includes(action))).length;
const isQuiet = (plan) => plan.changes.every(({ actions }) => actions[0] === 'no-op');
const SAID = {
  create: 'will be created',
  update: 'will be updated in-place',
  delete: 'will be destroyed',
  'delete,create': 'must be replaced',
};
function describe(plan) {
  if (isQuiet(plan)) return 'No changes. Your infrastructure matches the configuration.';
  const lines = plan.changes
    .filter(({ actions }) => actions[0] !== 'no-op')
    .map(({ name, actions }) => `  # terraform_data.${name} ${SAID[actions.join()]}`);
  return `${lines.join('\n')}\n\nPlan: ${count(plan, 'create')} to add, ${count(plan, 'update')} to change, ${count(plan, 'delete')} to destroy.`;
}

/** Carries a plan out: the state is written after each resource. */
function carryOut(module, plan, state) {
  const next = state ?? emptyState();
  for (const { name, actions, after: planned, dependencies } of plan.changes) {
    if (actions[0] === 'no-op') continue;
    const present = Object.fromEntries(next.resources.map((one) => [one.name, plain(attributesOf(one))]));
    const after = known(planned, present);
    const old = next.resources.find((one) => one.name === name);
    if (actions.includes('delete')) next.resources = next.resources.filter((one) => one.name !== name);
    if (after) {
      const id = actions[0] === 'update' ? attributesOf(old).id : randomUUID();
      console.log(`terraform_data.${name}: ${actions[0] === 'update' ? 'Modifying' : 'Creating'}...`);
      if (actions[0] !== 'update') provision(module.resource.terraform_data[name], plan.variables, next);
      const attributes = {
        id,
        input: typed(after.input),
        output: typed(after.input),
        triggers_replace: typed(after.triggers_replace),
      };
      next.resources = [
        ...next.resources.filter((one) => one.name !== name),
        resourceOf(name, attributes, dependencies),
      ].sort((a, b) => (a.name < b.name ? -1 : 1));
    }
    writeState(next);
  }
  const resources = Object.fromEntries(next.resources.map((one) => [one.name, plain(attributesOf(one))]));
  const outputs = {};
  if (next.resources.length > 0)
    for (const [name, { value, sensitive }] of Object.entries(module.output)) {
      const filled = fill(value, { variables: plan.variables, resources });
      outputs[name] = { value: filled, type: typeOf(filled), ...(sensitive ? { sensitive: true } : {}) };
    }
  if (JSON.stringify(next.outputs) !== JSON.stringify(outputs) || state === null) {
    next.outputs = outputs;
    writeState(next);
  }
}

const resourceOf = (name, attributes, dependencies = []) => ({
  mode: 'managed',
  type: 'terraform_data',
  name,
  provider: 'provider["terraform.io/builtin/terraform"]',
  instances: [
    {
      schema_version: 0,
      attributes,
      sensitive_attributes: [],
      ...(dependencies.length > 0 ? { dependencies } : {}),
    },
  ],
});

function provision({ provisioner = [] }, variables, state) {
  const resources = Object.fromEntries(state.resources.map((one) => [one.name, plain(attributesOf(one))]));
  for (const entry of [provisioner].flat()) {
    const { command, environment = {} } = fill(entry['local-exec'], { variables, resources });
    const { status } = spawnSync('/bin/sh', ['-c', command], {
      stdio: 'inherit',
      env: { ...process.env, ...environment },
    });
    if (status !== 0) fail(`local-exec provisioner error\n\nError running command: exit status ${status}`);
  }
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** The document of `show -json` of a plan. */
const planDocument = (plan) => ({
  format_version: '1.2',
  terraform_version: VERSION,
  resource_changes: plan.changes.map(({ name, actions, before, after, unknown }) => ({
    address: `terraform_data.${name}`,
    mode: 'managed',
    type: 'terraform_data',
    name,
    provider_name: 'terraform.io/builtin/terraform',
    change: {
      actions,
      before,
      after:
        after && withoutLater(Object.fromEntries(Object.entries(after).filter(([key]) => !unknown[key]))),
      after_unknown: isObject(after?.input) ? { ...unknown, input: marksOf(after.input) } : unknown,
      before_sensitive: before === null ? false : {},
      after_sensitive: after === null ? false : {},
    },
  })),
});

function planOf(flags, mode) {
  if (flags.positional[0]) {
    const plan = readJson(flags.positional[0]);
    const state = readStateFile();
    if (plan.lineage !== (state?.lineage ?? '') || plan.serial !== (state?.serial ?? 0))
      fail(
        'Saved plan is stale\n\nThe given plan file can no longer be applied because the state was changed by another operation.',
      );
    return plan;
  }
  const module = readModule();
  if (flags['refresh-only'])
    return { changes: [], variables: readVariables(module, flags.files), lineage: '', serial: 0 };
  return makePlan(module, readVariables(module, flags.files), readStateFile(), mode);
}

const commands = {
  version: () =>
    console.log(
      JSON.stringify(
        {
          terraform_version: VERSION,
          platform: 'linux_amd64',
          provider_selections: {},
          terraform_outdated: false,
        },
        null,
        2,
      ),
    ),
  init: () => {
    readModule();
    mkdirSync('.terraform', { recursive: true });
    console.log('Terraform has been successfully initialized!');
  },
  plan: (flags) => {
    const plan = planOf(flags);
    console.log(describe(plan));
    if (flags.out) writeFileSync(flags.out, JSON.stringify(plan), { mode: 0o600 });
    if (flags['detailed-exitcode'] && !isQuiet(plan)) process.exitCode = 2;
  },
  apply: (flags, mode) => {
    const plan = planOf(flags, mode);
    if (mode !== 'destroy') console.log(describe(plan));
    carryOut(readModule(), plan, readStateFile());
    console.log(
      `\nApply complete! Resources: ${count(plan, 'create')} added, ${count(plan, 'update')} changed, ${count(plan, 'delete')} destroyed.`,
    );
  },
  destroy: (flags) => {
    const plan = planOf(flags, 'destroy');
    const state = readStateFile();
    if (state !== null) carryOut(readModule(), plan, state);
    console.log(`\nDestroy complete! Resources: ${count(plan, 'delete')} destroyed.`);
  },
  show: (flags) => console.log(JSON.stringify(planDocument(readJson(flags.positional[0])))),
  state: (flags) => {
    if (flags.positional[0] !== 'pull') fail(`state ${flags.positional[0]} is not known here`);
    const state = readStateFile();
    if (state !== null) console.log(JSON.stringify(state, null, 2));
  },
  import: (flags) => {
    const [address, id] = flags.positional;
    const name = address.split('.')[1];
    if (!readModule().resource.terraform_data?.[name])
      fail('resource address "' + address + '" does not exist in the configuration.');
    const state = readStateFile() ?? emptyState();
    if (state.resources.some((one) => one.name === name)) fail('Resource already managed by Terraform');
    state.resources.push(resourceOf(name, { id, input: null, output: null, triggers_replace: null }));
    writeState(state);
  },
};

const LOCK = '.terraform.tfstate.lock.info';
process.on('SIGINT', () => {
  console.error('Interrupt received.');
  rmSync(LOCK, { force: true });
  process.exit(1);
});

const [command, ...rest] = process.argv.slice(2);
if (!Object.hasOwn(commands, command)) fail(`no command ${command}`);
const flags = { positional: rest.filter((one) => !one.startsWith('-')), files: [] };
for (const one of rest.filter((text) => text.startsWith('-'))) {
  const [name, ...value] = one.replace(/^-+/, '').split('=');
  if (name === 'var-file') flags.files.push(value.join('='));
  else flags[name] = value.length > 0 ? value.join('=') : true;
}
commands[command](flags);
