// Records samples of formats in test/formats/corpus: of new kinds and numbers; with `--additive KIND` one more sample of an
// existing number, whose writer got an optional field that older readers ignore. Never changes an existing sample.
//   node --import tsx test/formats/record.ts [--additive KIND]
import { kinds, record, samplesOf } from './corpus';

async function main(): Promise<void> {
  const at = process.argv.indexOf('--additive');
  const additive = at < 0 ? undefined : process.argv[at + 1];
  if (at >= 0 && !kinds.some(({ name }) => name === additive))
    throw new Error(`no kind is called ${additive}`);
  for (const kind of kinds) {
    const isNew = samplesOf(kind, kind.format.written).length === 0;
    if (!isNew && kind.name !== additive) continue;
    await record(kind);
    console.log(`recorded ${kind.name} ${kind.format.written}`);
  }
}

void main();
