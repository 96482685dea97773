// Runs the program `prisma` without its studio and its local server. These are not installed (.pnpmfile.cjs) and `generate` does
// not use them, but the program loads them at its start.
const Module = require('node:module');

const ABSENT = /^@prisma\/(dev|studio-core)(\/|$)/;
const load = Module._load;
Module._load = function (request, ...rest) {
  return ABSENT.test(request) ? {} : load.call(this, request, ...rest);
};

require('prisma/build/index.js');
