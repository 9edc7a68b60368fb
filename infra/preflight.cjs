/**
 * Preloaded by the commands of package.json. Reports in one sentence that Node.js is too old or that dependencies are missing,
 * before other modules fail to load. Runs on Node.js 10 and later.
 */
// biome-ignore lint/style/useNodejsImportProtocol: Node.js before 14 does not know it.
const { existsSync } = require('fs')
// biome-ignore lint/style/useNodejsImportProtocol: as above.
const { join } = require('path')

const needed = 24
const root = join(__dirname, '..')

function problem() {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    return `The dependencies of keyplane are not installed: run npm ci in ${root}.`
  }
  const { node } = process.versions
  if (Number(node.split('.')[0]) >= needed) return undefined
  return `keyplane requires Node.js ${needed}, and this is ${node}: run it with npm, which uses the version that npm ci installs.`
}

const sentence = problem()
if (sentence !== undefined) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}
