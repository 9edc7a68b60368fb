/**
 * Names the Node.js that `npm ci` installs, from the npm package of this platform, and lets npm run commands on it: npm looks for
 * `node` in node_modules/.bin first, and uses that of the PATH where the registry has no package. npm before 11 deletes its link when it
 * leaves out the packages of other platforms, whose program has the same name, so `preprepare` restores it. Runs on Node.js 10 and later.
 */
// biome-ignore lint/style/useNodejsImportProtocol: Node.js before 14 does not know it.
const { spawnSync } = require('child_process')
// biome-ignore lint/style/useNodejsImportProtocol: as above.
const { existsSync, linkSync, mkdirSync, symlinkSync } = require('fs')
// biome-ignore lint/style/useNodejsImportProtocol: as above.
const { basename, dirname, join, relative } = require('path')

/** Returns the name of the package with the Node.js of a platform, which may not exist. */
const packageOf = ({ platform, arch }) => `node-${platform === 'win32' ? 'win' : platform}-${arch}`

/** Returns the program of the package for this machine, and where npm looks for it. Neither needs to exist. */
function packagedNode(root) {
  const modules = join(root, 'node_modules')
  const program = join(modules, packageOf(process), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  return { program, link: join(modules, '.bin', basename(program)) }
}

/** Reports whether a program starts. A Node.js for glibc does not start on musl. */
const runs = (program) => spawnSync(program, ['--version']).status === 0

/** Puts the packaged Node.js where npm finds it, if it is installed and runs. */
function linkPackagedNode(root) {
  const { program, link } = packagedNode(root)
  if (existsSync(link) || !runs(program)) return
  mkdirSync(dirname(link), { recursive: true })
  // Windows lets only administrators make symbolic links.
  if (process.platform === 'win32') linkSync(program, link)
  else symlinkSync(relative(dirname(link), program), link)
}

module.exports = { linkPackagedNode, packagedNode, packageOf, runs }

if (require.main === module) linkPackagedNode(join(__dirname, '..'))
