// Appends each failed test to the file that BATON_TEST_FAILURES names, as a line of JSON: {file, name, message}. A run of all tests
// repeats them at its end (tools/test-run.mjs).
const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { stripVTControlCharacters } = require('node:util');

const MESSAGE_LINES = 12;

/** The beginning of a message, indented, without the lines of libraries. */
const begin = (message) =>
  stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => !line.includes('node_modules'))
    .slice(0, MESSAGE_LINES)
    .map((line) => `    ${line}`)
    .join('\n');

class FailuresReporter {
  onTestFileResult(_test, { testFilePath, testResults, failureMessage }) {
    const failed = testResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({ name: fullName, message: failureMessages.join('\n') }));
    if (failed.length === 0 && failureMessage) failed.push({ name: 'the file', message: failureMessage });
    const file = relative(process.cwd(), testFilePath);
    for (const { name, message } of failed) {
      const line = JSON.stringify({ file, name, message: begin(message) });
      appendFileSync(process.env.BATON_TEST_FAILURES, `${line}\n`);
    }
  }
}

module.exports = FailuresReporter;
