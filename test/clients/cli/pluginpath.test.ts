/** Where kubectl looks for the plugin, as a warning says it. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { warnUnlessOnPath } from '../../../clients/cli/src/kubeconfig/pluginpath.ts'
import { testIo } from './credentials/testio.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-path-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function addProgram(...names: string[]): Promise<string> {
  const file = join(folder, ...names)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, '')
  await chmod(file, 0o755)
  return file
}

/** Returns the folder that the warning advises to add, or undefined without a warning. */
async function advised(program: string, platform: NodeJS.Platform, PATH = '/nowhere') {
  const { io, said } = testIo({ program, env: { PATH, PATHEXT: '.COM;.EXE;.CMD' } })
  await warnUnlessOnPath(io, platform)
  return /will not find it: install it, or add (.*) to the PATH/.exec(said.err)?.[1]
}

test('is the folder of the link that npm makes', async () => {
  const program = await addProgram('bin', 'keyplane')
  expect(await advised(program, 'linux')).toBe(join(folder, 'bin'))
})

test('is on Windows the folder in which npm puts its commands, which is not that of the program', async () => {
  const program = await addProgram('node_modules', 'keyplane', 'bin', 'keyplane.cjs')
  await addProgram('keyplane.CMD')
  expect(await advised(program, 'win32')).toBe(folder)
  expect(await advised(program, 'win32', `/nowhere;${folder}`)).toBeUndefined()
  await addProgram('node_modules', '.bin', 'keyplane.CMD')
  expect(await advised(program, 'win32')).toBe(join(folder, 'node_modules', '.bin'))
})
