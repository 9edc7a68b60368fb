/**
 * Preloaded by the commands of package.json. Reports in one sentence that Node.js is too old or that dependencies are missing,
 * before other modules fail to load. Runs on Node.js 10 and later.
 */
// biome-ignore lint/style/useNodejsImportProtocol: Node.js before 14 does not know it.
const { existsSync } = require('fs')
// biome-ignore lint/style/useNodejsImportProtocol: as above.
const { join } = require('path')
const { engines } = require('../package.json')
const { packagedNode, runs } = require('./packagednode.cjs')

const [, major, minor] = /^>=(\d+)\.(\d+)\.0$/.exec(engines.node).map(Number)

/** Returns a sentence with what the user of a Node.js must do first in a checkout; undefined: nothing. */
function problem(root, node) {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    return `The dependencies of keyplane are not installed: run npm ci in ${root}, with npm 7 or later.`
  }
  const [thisMajor, thisMinor] = node.split('.').map(Number)
  if (thisMajor > major || (thisMajor === major && thisMinor >= minor)) return undefined
  return `keyplane requires Node.js ${major}.${minor} or later, and this is ${node}: ${remedy(packagedNode(root))}.`
}

function remedy({ program, link }) {
  if (!runs(program)) return 'install a newer one, because npm ci has installed none that runs here'
  if (!existsSync(link)) return 'run npm run prepare, so that npm uses the version that npm ci has installed'
  return 'run it with npm, which uses the version that npm ci has installed'
}

module.exports = { problem }

const here = join(__dirname, '..')
// .yarnrc.yml lets Yarn run this module instead of itself.
const isYarn = require.main === module
const sentence = isYarn
  ? `keyplane is installed with npm 7 or later, not with Yarn: run npm ci in ${here}.`
  : problem(here, process.versions.node)
if (sentence !== undefined) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}
