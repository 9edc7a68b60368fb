/** Looks at the arguments of every process that a snippet starts: other users of a machine see them, so they may hold no key and no token. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { posixWord } from '../../clients/core/src/shellwords.ts'
import { isExecutable } from './executable.ts'

/** Programs that snippets start by a file or by another program. */
const ALWAYS = ['curl', 'gh', 'vault', 'aws', 'kubectl', 'python3', 'node', 'cat', 'sed', 'sh']
/** Access keys and JSON Web Tokens. */
const SECRET = /mpk_\w{40}|eyJ[\w-]{20,}\.[\w-]+/
/** Variables that hold a secret themselves, unlike those with the name of a file or a URL. */
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD)$/
const SHORTEST_SECRET = 8

export interface Watched {
  /** The environment for the snippet: each program of its `PATH` that the snippet names is recorded before it starts. */
  env: NodeJS.ProcessEnv
  /** Throws an error that names the program, if one had a secret among its arguments. Call it once, after the end of the snippet. */
  demandNoSecrets(): void
}

/** Of the folders of this process, in which no test writes, what they have and have not. */
const known = new Map<string, boolean>()
const ownFolders = new Set((process.env.PATH ?? '').split(':'))

function has(folder: string, name: string): boolean {
  const path = join(folder, name)
  if (!ownFolders.has(folder)) return isExecutable(path)
  const found = known.get(path) ?? isExecutable(path)
  known.set(path, found)
  return found
}

export function watchArguments(snippet: string, env: NodeJS.ProcessEnv): Watched {
  const folder = mkdtempSync(join(tmpdir(), 'keyplane-arguments-'))
  const record = join(folder, '.record')
  // Snippets may run as another user.
  chmodSync(folder, 0o755)
  writeFileSync(record, '')
  chmodSync(record, 0o666)
  const folders = (env.PATH ?? '').split(':')
  for (const name of new Set([...ALWAYS, ...(snippet.match(/[A-Za-z][\w.+-]*/g) ?? [])])) {
    const within = folders.find((one) => has(one, name))
    if (within === undefined) continue
    const lines = [
      '#!/bin/sh',
      `printf '%s\\n' ${name} "$@" '' >> ${posixWord(record)}`,
      `exec ${posixWord(join(within, name))} "$@"`,
    ]
    writeFileSync(join(folder, name), `${lines.join('\n')}\n`, { mode: 0o755 })
  }
  const secrets = Object.entries(env).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) && value.length >= SHORTEST_SECRET ? [value] : [],
  )
  return {
    env: { ...env, PATH: `${folder}:${env.PATH}` },
    demandNoSecrets() {
      const started = readFileSync(record, 'utf8').split('\n\n')
      rmSync(folder, { recursive: true })
      const guilty = started.find((one) => SECRET.test(one) || secrets.some((secret) => one.includes(secret)))
      if (guilty !== undefined) throw new Error(`${guilty.split('\n')[0]} has a secret among its arguments`)
    },
  }
}
