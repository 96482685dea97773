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
  ['{% for u in users if u.admin %}{{ u.name }}{{ loop.last }}{% else %}none{% endfor %}', 'annTrue'],
  ['{% for u in users if u.age %}{{ u.name }}{% else %}none{% endfor %}', 'none'],
  [
    '{{ {"a": [1, 2], "b": none} | tojson }} {{ {"k": port}.k }} {{ dict(a=1) | tojson }}',
    '{"a":[1,2],"b":null} 8080 {"a":1}',
  ],
  [
    '{{ "abcd"[1:3] }} {{ [1,2,3][:-1] }} {{ [1,2,3][-1] }} {{ "abcd"[::-1] }} {{ [1,2,3,4][::2] }}',
    'bc [1, 2] 3 dcba [1, 3]',
  ],
  ['{% raw %}{{ name }} {% if %}{% endraw %}{{ name }}', '{{ name }} {% if %}web'],
  ['{% set x %}a{{ name }}{% endset %}[{{ x }}]', '[aweb]'],
  ['{% set ns = namespace(n=0) %}{% for u in users %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}', '2'],
  ['{{ users | map(attribute="name") | join(", ") }} {{ ["a"] | map("upper") | list }}', "ann, bob ['A']"],
  ['{{ users | selectattr("admin") | list | length }} {{ [1,2,3] | reject("odd") | list }}', '1 [2]'],
  ['{{ users | selectattr("name", "equalto", "bob") | map(attribute="name") | first }}', 'bob'],
  [
    '{{ users | sort(attribute="name", reverse=true) | map(attribute="name") | join }} {{ [1,2]|sum }} {{ [3,1]|max }}',
    'bobann 3 3',
  ],
  [
    '{{ env | dictsort | tojson }} {{ users | join("+", attribute="name") }}',
    '[["A","1"],["B","two"]] ann+bob',
  ],
  [
    '{{ "a b/ü?" | urlencode }} {{ {"q": "a&b"} | urlencode }} {{ "<a>" | e }} {{ 2.567 | round(1) }}',
    'a%20b/%C3%BC%3F q=a%26b &lt;a&gt; 2.6',
  ],
  [
    '{{ "%s is %03d" | format(name, 7) }} {{ "%s-%s" % (name, 1) }} {{ "{} {x}".format(1, x=2) }}',
    'web is 007 web-1 1 2',
  ],
  [
    '{{ {"a": {"@id": 1, "b": ["x", "<"]}} | toxml }} {{ env | tojson(indent=1) | length }}',
    '<a id="1"><b>x</b><b>&lt;</b></a> 26',
  ],
  [
    '{{ 9 is divisibleby 3 }} {{ name is in ["web"] }} {{ port is eq(8080) }} {{ 1.5 is float }} {{ name is not string }}',
    'True True True True False',
  ],
  [
    '{{ "a,b,c".split(",", 1)[1] }} {{ "xxax".strip("x") }} {{ 2 ** 3 }} {{ range(6, 0, -2) | list }}',
    'b,c a 8 [6, 4, 2]',
  ],
  ['{{ missing | default("x", boolean=true) }} {{ "a\nb" | indent(2, first=true) }}', 'x   a\n  b'],
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
  [`{% set x = [1] %}${'{% set x = [x, x] %}'.repeat(40)}{{ x }}`, 'a value of more than'],
  [`{% set x = "aaaa" %}${'{% set x = x.replace("a", x) %}'.repeat(9)}`, 'a value of more than'],
  [`{% set x = range(99999) | list %}${'{% set x = x + x %}'.repeat(30)}`, 'a value of more than'],
  [
    '{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.x.y }}{% set users.a = 1 %}',
    'users is no namespace',
  ],
  ['{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}', 'a value has no end'],
  ['{{ users | map("map", "upper") }}', 'map knows no filter "map"'],
  ['{{ {"a b": 1} | toxml }}', 'toxml: "a b" is no name of an element'],
])('refuses %s', (text, message) => expect(() => render(text)).toThrow(message));
