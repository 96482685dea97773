// The same values, by the real helm.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeTools } from '@baton/testkit/kube-double';
import { parse } from 'yaml';
import { valuesOfSets } from './set-values';

it('are what helm makes of --set', async () => {
  const { helm } = await kubeTools();
  const chart = mkdtempSync(join(tmpdir(), 'baton-set-'));
  try {
    mkdirSync(join(chart, 'templates'));
    writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: x\nversion: 0.1.0\n');
    writeFileSync(join(chart, 'templates/x.yaml'), 'values: {{ toJson (omit .Values "global") }}\n');
    for (const [name, value] of [
      ['a.b.c', '1'],
      ['a[0].b', 'true'],
      ['a[1]', 'x'],
      ['node\\.kubernetes\\.io/x', 'y'],
      ['a', '{x,1,true}'],
      ['a', '007'],
      ['a', '1.5'],
      ['a', '-3'],
      ['a', '12345678901'],
    ] as const) {
      const text = execFileSync(helm, ['template', 'x', chart, '--set', `${name}=${value}`], {
        encoding: 'utf8',
      });
      const own = JSON.parse(JSON.stringify(valuesOfSets([{ name, value }], 'set_values')));
      expect([name, value, own]).toEqual([name, value, parse(text).values]);
    }
  } finally {
    rmSync(chart, { recursive: true, force: true });
  }
});
