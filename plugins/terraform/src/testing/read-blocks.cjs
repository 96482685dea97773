// A reader for the small part of the language of terraform that the stand-in runs.
'use strict';

const TOKEN = /\s+|#[^\n]*|"((?:[^"\\]|\\.)*)"|[A-Za-z_][A-Za-z0-9_.]*|-?\d+(?:\.\d+)?|[{}[\]=,]/y;

/** Reads blocks and attributes; a name such as var.x becomes the text `${var.x}`, as in the JSON form. */
function readBlocks(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (!found) throw new Error(`Invalid character at ${at}: ${text.slice(at, at + 20)}`);
    if (found[1] !== undefined) tokens.push({ text: JSON.parse(found[0]) });
    else if (!/^[\s#]/.test(found[0])) tokens.push(found[0]);
  }
  let next = 0;
  const value = () => {
    const token = tokens[next++];
    if (typeof token === 'object') return token.text;
    if (token === '{') return body('}');
    if (token === '[') {
      const list = [];
      while (tokens[next] !== ']') {
        list.push(value());
        if (tokens[next] === ',') next += 1;
      }
      next += 1;
      return list;
    }
    if (token === 'true' || token === 'false') return token === 'true';
    return /^-?\d/.test(token) ? Number(token) : `\${${token}}`;
  };
  const body = (end) => {
    const made = {};
    while (next < tokens.length && tokens[next] !== end) {
      const name = tokens[next++];
      const key = typeof name === 'object' ? name.text : name;
      if (tokens[next] === '=') {
        next += 1;
        made[key] = value();
      } else {
        const labels = [];
        while (tokens[next] !== '{') labels.push(tokens[next++].text);
        next += 1;
        const content = body('}');
        if (key === 'provisioner') (made[key] ??= []).push({ [labels[0]]: content });
        else {
          made[key] ??= {};
          let place = made[key];
          for (const label of labels.slice(0, -1)) place = place[label] ??= {};
          if (labels.length > 0) place[labels.at(-1)] = content;
        }
      }
      if (tokens[next] === ',') next += 1;
    }
    next += 1;
    return made;
  };
  return body();
}

module.exports = { readBlocks };
