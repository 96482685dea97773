// Only what Biome and oxlint cannot say: sizes, and bans that depend on the folder. None of them needs types.
import tseslint from 'typescript-eslint';

const sources = [
  'packages/*/src/**/*.ts',
  'services/*/src/**/*.ts',
  'apps/*/src/**/*.{ts,tsx}',
  'plugins/*/src/**/*.ts',
];
const tests = [
  '**/*.test.ts',
  '**/*.contract.ts',
  '**/testing/**',
  '**/testing-*.ts',
  'packages/testkit/**',
  'test/**',
  'bench/**',
];
const generated = ['**/node_modules/**', '**/dist/**', '**/src/gen/**', '**/*.gen.ts', '**/fixtures/**'];

const clockBan = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Only kernel/clock.ts reads the clock; take a Clock or systemClock.',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Only kernel/clock.ts reads the clock; take a Clock or systemClock.',
  },
];
const envBan = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only config.ts and main.ts read the environment; pass the frozen configuration down.',
};
const exportAllBan = {
  selector: 'ExportAllDeclaration[exported=null]',
  message: 'Name what is exported; no barrels.',
};

/** Names of wires (BATON_WIRE): whoever compares them would have to be found when a wire changes. */
const wireNameBans = [
  'BinaryExpression[operator=/^[!=]==?$/] > Literal[value=/^(spec|cloudify)$/]',
  'SwitchCase > Literal[value=/^(spec|cloudify)$/]',
  "TSUnionType:has(Literal[value='spec']):has(Literal[value='cloudify'])",
].map((selector) => ({
  selector,
  message: 'Nobody asks which wire it is: name what differs in the WirePolicy of the service, and ask that.',
}));
const wireChoiceBans = [
  "MemberExpression[property.name='BATON_WIRE']",
  "CallExpression[callee.name='chooseWire']",
].map((selector) => ({
  selector,
  message: 'Only service.ts chooses the WirePolicy, once; pass it, or a part of it, down.',
}));
const wireBans = [...wireNameBans, ...wireChoiceBans];

// A column `visibility` compared with a text, or with a value behind a word that begins a condition; an assignment has neither.
const visibilityBans = [
  "TemplateElement[value.raw=/visibility\\s*(=|<>|!=)\\s*'|visibility\\s+(not\\s+)?in\\b/]",
  'TemplateElement[value.raw=/(where|and|or|on|not|when|[(])\\s*([a-z]+[.])?visibility\\s*(=|<>|!=)\\s*$/i]',
  "Literal[value=/visibility\\s*(=|<>|!=)\\s*'|visibility\\s+(not\\s+)?in\\s*[(]/]",
  'CallExpression[arguments.0.value=/(^|[.])visibility$/][arguments.1.value=/^(=|<>|!=|in|not in)$/]',
].map((selector) => ({
  selector,
  message:
    'Who sees a row is said once: packages/postgres has visibilityScope for lists, visibleTo, sharedOrOwn, isGlobal and isPrivate.',
}));

const sleepBans = [
  'NewExpression[callee.name="Promise"] > ArrowFunctionExpression[body.callee.name="setTimeout"]',
  'NewExpression[callee.name="Promise"] CallExpression[callee.name="setTimeout"][arguments.0.type="Identifier"]',
  'ImportDeclaration[source.value=/^(node:)?timers\\/promises$/] > ImportSpecifier[imported.name="setTimeout"]',
  'CallExpression[callee.name="sleep"]',
].map((selector) => ({
  selector,
  message:
    'Tests do not sleep: `eventually` or a test signal waits for something, `letTimePass` says what time is for (packages/testkit).',
}));

const size = (severity, lines, functions) => ({
  'max-lines': [severity, { max: lines, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': [
    severity,
    { max: functions, skipBlankLines: true, skipComments: true, IIFEs: true },
  ],
});

/** `BATON_LINT_WARN=1` shows the softer size limits instead of the hard ones. */
const isSoft = process.env.BATON_LINT_WARN === '1';

export default tseslint.config(
  { ignores: generated },
  {
    files: [...sources, 'test/**/*.ts', 'bench/**/*.ts'],
    languageOptions: { parser: tseslint.parser },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      ...(isSoft ? size('warn', 300, 40) : size('error', 400, 60)),
      'no-restricted-syntax': ['error', ...clockBan, envBan, exportAllBan, ...wireBans, ...visibilityBans],
    },
  },
  {
    // JSX, in which a function is markup for the most part.
    files: ['apps/console/src/**/*.tsx'],
    rules: isSoft ? size('warn', 300, 80) : size('error', 400, 100),
  },
  {
    // Where the policies of the wires are chosen: of a service, of all routes, of the process.
    files: [
      'services/*/src/service.ts',
      'packages/http/src/rules-of.ts',
      'packages/service-runtime/src/lifecycle/start-parts.ts',
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...clockBan,
        envBan,
        exportAllBan,
        ...wireNameBans,
        ...visibilityBans,
      ],
    },
  },
  {
    // The type of the names.
    files: ['packages/http/src/wire.ts'],
    rules: { 'no-restricted-syntax': ['error', ...clockBan, envBan, exportAllBan, ...visibilityBans] },
  },
  {
    // The only comparisons with a column `visibility`.
    files: ['packages/postgres/src/visibility-scope.ts', 'packages/postgres/src/visibility-sql.ts'],
    rules: { 'no-restricted-syntax': ['error', ...clockBan, envBan, exportAllBan, ...wireBans] },
  },
  {
    files: ['packages/kernel/src/clock.ts'],
    rules: { 'no-restricted-syntax': ['error', envBan, exportAllBan, ...wireBans] },
  },
  {
    // The only readers of the environment.
    files: [
      '**/config.ts',
      '**/main.ts',
      '**/*.main.ts',
      'packages/service-runtime/src/lifecycle/run-service.ts',
      'packages/service-runtime/src/telemetry/telemetry-preload.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...clockBan, exportAllBan, ...wireBans] },
  },
  {
    files: tests,
    rules: {
      'no-restricted-syntax': ['error', exportAllBan, ...sleepBans],
      'max-lines-per-function': 'off',
    },
  },
  {
    // The two places that sleep for all others; benches, which watch what a process does in a given time; and operations that
    // workers run (*.js), which take their time.
    files: [
      'packages/testkit/src/eventually.ts',
      'packages/testkit/src/let-time-pass.ts',
      'bench/**',
      'test/**/*.js',
    ],
    rules: { 'no-restricted-syntax': ['error', exportAllBan] },
  },
);
