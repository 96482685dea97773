import { testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';
import { type Answer, type Api, startApi } from '../testing/items-api';
import { fromXml } from './answer';
import { checkAnswer } from './expect';
import { translate } from './translate';

let api: Api;
beforeEach(async () => {
  api = await startApi();
});
afterEach(async () => await api.close());

/** Properties that an answer gives, by the keys of its call. */
async function propertiesOf(answer: Answer, keys: object): Promise<unknown> {
  api.answer = () => answer;
  const node = testNode(plugin, 'cloudify.nodes.rest.Requests', {
    properties: { host: '127.0.0.1', port: api.port },
    files: { 't.yaml': JSON.stringify({ rest_calls: [{ path: '/', method: 'get', ...keys }] }) },
  });
  await node.run('create', { template_file: 't.yaml', save_path: 'r', remove_calls: true });
  return node.runtimeProperties.r;
}

it.each<[string, Answer, object, unknown]>([
  ['JSON', { body: { a: 1 } }, { response_translation: ['all'] }, { all: { a: 1 } }],
  [
    'JSON of an unknown kind',
    { body: '{"a": 1}', headers: { 'content-type': 'application/x-own' } },
    { response_translation: ['all'] },
    { all: { a: 1 } },
  ],
  [
    'XML by its kind',
    { body: '<a id="1"><b>x</b><b> </b></a>', headers: { 'content-type': 'text/xml; charset=utf-8' } },
    { response_translation: ['all'] },
    { all: { a: { '@id': '1', b: ['x', null] } } },
  ],
  [
    'XML when asked',
    { body: '<a>1</a>' },
    { response_format: 'XML', response_translation: { a: ['n'] } },
    { n: '1' },
  ],
  ['text', { body: 'plain' }, { response_format: 'text' }, { text: 'plain' }],
  ['nothing of raw answers', { body: 'x' }, { response_format: 'raw', response_translation: ['x'] }, {}],
  ['nothing of empty answers', { status: 204 }, { response_translation: ['x'] }, {}],
  [
    'headers and cookies',
    { body: {}, headers: { 'X-Rate': '7', 'set-cookie': ['sid=abc; Path=/', 'b=2'] } },
    { header_translation: { 'X-Rate': ['rate'] }, cookies_translation: { sid: ['session'] } },
    { rate: '7', session: 'abc' },
  ],
])('reads %s', async (_, answer, keys, expected) => {
  expect(await propertiesOf(answer, keys)).toEqual(expected);
});

const PAGES = {
  payload: {
    pages: [
      { name: 'a', p: { c: 'blue' } },
      { name: 'b', p: { c: 'red' } },
    ],
  },
};

it.each<[string, unknown, unknown, string, unknown]>([
  [
    'a form',
    { name: 'A', address: { geo: { lat: '1' } } },
    { name: ['n'], address: { geo: { lat: ['g', 'lat'] } } },
    'auto',
    { n: 'A', g: { lat: '1' } },
  ],
  ['a list of forms', [{ name: 'A' }], [{ name: ['n'] }], 'auto', { n: 'A' }],
  ['an empty list', [], [{ name: ['n'] }], 'auto', {}],
  [
    'pairs',
    PAGES,
    [
      [
        ['payload', 'pages', 0, 'name'],
        ['x', 'first'],
      ],
    ],
    'auto',
    { x: { first: 'a' } },
  ],
  [
    'pairs with all members',
    PAGES,
    [
      [
        ['payload', 'pages', ['name']],
        ['pages', ['name']],
      ],
    ],
    'auto',
    { pages: [{ name: 'a' }, { name: 'b' }] },
  ],
  [
    'all members, deeper',
    PAGES,
    [[['payload', 'pages', ['p'], 'c'], ['colours']]],
    'v2',
    { colours: ['blue', 'red'] },
  ],
  ['names', { a: { b: ['c'] } }, { g: ['a', 'b', 0], none: ['x', 'y'] }, 'v3', { g: 'c', none: null }],
  [
    'names that are no properties',
    { a: 1 },
    { __proto__x: ['a'], constructor: ['a'] },
    'v3',
    { __proto__x: 1, constructor: 1 },
  ],
  ['no rules', { a: 1 }, null, 'auto', {}],
])('translates %s', (_, answer, rules, format, expected) => {
  const result = {};
  translate(answer as never, rules as never, format as never, result);
  expect(result).toEqual(expected);
});

it('adds to what is there, and never to the objects of the language', () => {
  const result = { g: { lat: 1 } };
  translate({ lng: 2 }, { lng: ['g', 'lng'] }, 'v1', result);
  expect(result).toEqual({ g: { lat: 1, lng: 2 } });
  translate('x', [[[], ['__proto__', 'polluted']]], 'v2', result);
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
});

it.each<[unknown, unknown, string, string]>([
  [{ a: 1 }, { b: ['x'] }, 'v1', 'the answer has no b'],
  [{ a: 1 }, { b: ['x'] }, 'v2', 'these are no rules of v2'],
  [{ a: 1 }, ['x'], 'v3', 'these are no rules of v3'],
  [{ a: 1 }, [[['a', ['b']], ['x']]], 'v2', 'a is no list'],
  [[1], [[[0], ['x', 9_999_999]]], 'v2', '9999999 is no position of a list'],
])('refuses rules that do not fit: %j %j', (answer, rules, format, message) => {
  expect(() => translate(answer as never, rules as never, format as never, {})).toThrow(message);
});

it('looks at answers by patterns of Python', () => {
  const look = (rules: object) => () =>
    checkAnswer({ id: 10, ok: true, list: [null, { s: 'GitHub' }] }, rules);
  for (const rule of [
    ['id', '1'],
    ['ok', 'True'],
    ['list', 0, 'None'],
    ['list', 1, 's', '\\AGit(?P<x>Hub)\\Z|x'],
    [
      ['id', '10'],
      ['ok', 'T'],
    ],
  ])
    expect(look({ response_expectation: rule })).not.toThrow();
  expect(look({ response_expectation: ['id', '0'] })).toThrow('id is 10, which does not match 0');
  expect(look({ response_expectation: ['none', '0'] })).toThrow('No key or index "none"');
  expect(
    look({
      nonrecoverable_response: [
        ['id', '11'],
        ['id', '10'],
      ],
    }),
  ).toThrow('Giving up: id is 10');
  expect(look({ nonrecoverable_response: ['id', '0'] })).not.toThrow();
  expect(look({ response_expectation: ['id', '(?=x)'] })).toThrow('cannot be used');
});

it('a pattern takes no longer for a hostile answer', () => {
  const answer = { s: `${'a'.repeat(50_000)}!` };
  expect(() => checkAnswer(answer, { response_expectation: ['s', '(a+)+$'] })).toThrow('does not match');
});

it('reads no XML that grows', () => {
  const bomb = '<!DOCTYPE a [<!ENTITY x "xxxxxxxx"><!ENTITY y "&x;&x;&x;">]><a>&y;</a>';
  expect(() => fromXml(bomb)).toThrow('declares XML entities');
  expect(() => fromXml('<a><b></a>')).toThrow('is no XML that can be read');
  expect(() => fromXml(`${'<a>'.repeat(500)}${'</a>'.repeat(500)}`)).toThrow('is no XML that can be read');
  expect(fromXml('<a>&lt;b&gt;</a>')).toEqual({ a: '<b>' });
});
