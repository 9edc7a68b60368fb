/**
 * Preloaded by the commands of package.json: says in one sentence that Node.js is too old or that modules are missing,
 * before anything is loaded that would fail for it. Any Node.js since version 10 can read it.
 */
// biome-ignore lint/style/useNodejsImportProtocol: Node.js before 14 does not know it.
const { existsSync } = require('fs')
// biome-ignore lint/style/useNodejsImportProtocol: as above.
const { join } = require('path')

const needed = 24
const root = join(__dirname, '..')

function problem() {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    return `The modules of keyplane are missing: run npm ci in ${root}.`
  }
  const { node } = process.versions
  if (Number(node.split('.')[0]) >= needed) return undefined
  return `keyplane needs Node.js ${needed}, and this is ${node}: run it with npm, which takes the one that npm ci installs.`
}

const sentence = problem()
if (sentence !== undefined) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}
