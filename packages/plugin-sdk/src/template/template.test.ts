import { renderTemplate } from './index';

const variables = {
  name: 'web',
  port: 8080,
  on: true,
  none: null,
  users: [
    { name: 'ann', admin: true },
    { name: 'bob', admin: false },
  ],
  env: { A: '1', B: 'two' },
};
const render = (text: string) => renderTemplate(text, variables, 't.conf');

it.each([
  ['{{ name }}:{{ port }} {{ on }} {{ none }} {{ missing }}|', 'web:8080 True None |'],
  ['{{ users[1].name }} {{ env["A"] }} {{ env.B | upper }} {{ users|length }}', 'bob 1 TWO 2'],
  ['{{ missing | default("x") }} {{ "" | d("y", true) }} {{ env | tojson }}', 'x y {"A":"1","B":"two"}'],
  ['{% if port > 8000 and not missing %}high{% elif port == 80 %}web{% else %}low{% endif %}', 'high'],
  ['{% for u in users if_ %}{% endfor %}', null],
  [
    '{% for u in users %}{{ loop.index }}={{ u.name }}{% if not loop.last %},{% endif %}{% endfor %}',
    '1=ann,2=bob',
  ],
  ['{% for k, v in env.items() %}{{ k }}{{ v }};{% else %}none{% endfor %}', 'A1;Btwo;'],
  ['{% for x in [] %}{% else %}none{% endfor %}{# gone #}!', 'none!'],
  ['a\n  {%- set x = port + 1 -%}  \n{{ x // 2 }}\n', 'a4040'],
  [
    '{{ "a" if on else "b" }} {{ "w" in name }} {{ name is defined }} {{ missing is not defined }} {{ "a" ~ 1 }}',
    'a True True True a1',
  ],
  ['{{ name.constructor }}{{ users.constructor }}{{ env.__proto__ }}|', '|'],
  ['{% for i in range(3) %}{{ i }}{% endfor %} {{ ["b","a"] | sort | join("-") }}', '012 a-b'],
])('renders %s', (text, expected) => {
  if (expected === null) expect(() => render(text)).toThrow('template t.conf: line 1');
  else expect(render(text)).toBe(expected);
});

it.each([
  ['{{ name', 'line 1: {{ has no end'],
  ['\n{% if on %}', 'line 2: missing {% endif %}'],
  ['{{ name | uper }}', 'no filter "uper"; did you mean upper?'],
  ['{% include "x" %}', 'unknown statement {% include %}'],
  ['{% for i in range(90000) %}{% if range(90000) | sort %}{% endif %}{% endfor %}', 'more than 2000 ms'],
  ['{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}', 'more than'],
])('refuses %s', (text, message) => expect(() => render(text)).toThrow(message));
