#!/usr/bin/env node
/** Starts the bundle. Reports in one sentence that Node.js is too old, or that nothing is built. Runs on Node.js 12 and later. */
const oldest = [20, 15]
const [major, minor] = process.versions.node.split('.').map(Number)

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  fail(`keyplane requires Node.js ${oldest.join('.')} or later, and this is ${process.versions.node}.`)
}
if (process.argv.length === 3 && ['--version', '-V', 'version'].includes(process.argv[2])) {
  // The whole program takes longer to load.
  process.stdout.write(`${require('../package.json').version}\n`)
} else {
  import('../dist/keyplane.js').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    fail('keyplane is not built: run npm run prepare in its checkout.')
  })
}
