/** `keyplane token`: prints a token of a cluster, or keeps one in a file. */
import { duration } from '../../../core/src/durations.ts'
import { exchangedToken } from '../api/exchange.ts'
import { issueCredential } from '../api/issue.ts'
import { openSession } from '../api/session.ts'
import { type ClusterTarget, optionsMeant, targetOf } from '../api/target.ts'
import { command } from '../arguments/command.ts'
import { lifetime } from '../arguments/durations.ts'
import { outputFile, replaceFile } from '../config/outputfile.ts'
import { DEFAULT_TTL, type Lifetime, renewalAfter, secondsLeft } from '../credentials/lifetime.ts'
import { isPassing, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { printAs, printCredential } from '../output/print.ts'

export const token = command({
  name: ['token'],
  summary: 'Print a token for a cluster, or keep one in a file',
  description:
    'A token file is for clients that cannot run a plugin: "tokenFile" in a kube config, sidecars, Prometheus. With --renew the command keeps running ' +
    'until it gets SIGTERM or Ctrl-C, after which it ends with 0, and writes a new token when 80% of the lifetime of the old one has passed. If the server cannot be reached, fails or ' +
    'is too busy, it keeps the old token and tries again. It ends only when the server refuses.',
  options: {
    'virtual-cluster': {
      type: 'string',
      value: 'PROJECT/NAME',
      help: 'virtual cluster to which the token gives access',
    },
    cluster: { type: 'string', value: 'CLUSTER', help: 'connected cluster to which the token gives access' },
    ttl: {
      type: 'string',
      value: 'DURATION',
      help: 'lifetime of the token',
      default: `${DEFAULT_TTL}; of an ID token, what its trust says, at most 1h`,
    },
    out: { type: 'string', value: 'FILE', help: 'write the token to this file, which only you can read' },
    renew: { type: 'boolean', help: 'keep running and renew the token in the file of --out' },
  },
  formats: ['json', 'yaml'],
  examples: [
    { does: 'Print a token for a connected cluster', run: 'keyplane token --cluster west --ttl 1h' },
    {
      does: 'Keep a token of a virtual cluster in a file',
      run: 'keyplane token --virtual-cluster shop/dev --out /run/keyplane/token --renew',
    },
  ],
  meant: optionsMeant,
  async run({ values: { context, output, ttl, out, renew, ...names } }, io) {
    const target = targetOf(names)
    if (target.kind === 'management') throw new UsageError('keyplane token needs --virtual-cluster or --cluster.')
    if (renew && out === undefined) throw new UsageError('--renew needs --out FILE.')
    if (output !== undefined && out !== undefined) throw new UsageError('-o prints the token, so it excludes --out.')
    const life = ttl === undefined ? undefined : lifetime(ttl, '--ttl')
    const wanted = { target, life, context, isRenewed: renew }
    const file = out === undefined ? undefined : await outputFile(out)
    const first = await issue(io, wanted)
    if (file === undefined) {
      const { token, expirationTimestamp } = first
      if (output === undefined) printCredential(token, io)
      else await printAs(output, { token, ...(expirationTimestamp !== undefined && { expirationTimestamp }) }, io)
      return
    }
    await replaceFile(file, first.token)
    note(io, `The token in ${file} lives ${duration(first.seconds)}.`)
    if (renew) await keepRenewing(io, wanted, file, first)
  },
})

interface Wanted {
  target: ClusterTarget
  /** Seconds; by default what an exchange decides, or 15 minutes. */
  life: number | undefined
  context: string | undefined
  isRenewed: boolean
}

interface Token extends Lifetime {
  token: string
  expirationTimestamp: string | undefined
}

/** Asks with the key that the context has now: a rotation changes it while this command runs. */
async function issue(io: Io, { target, life: asked, context, isRenewed }: Wanted): Promise<Token> {
  const received = io.now()
  const session = await openSession(io, { context })
  const { exchange } = session
  // A key that is kept makes more tokens, and most ID tokens are exchanged only once.
  const isDirect = exchange !== undefined && asked === undefined && !isRenewed
  const direct = isDirect ? await exchangedToken(io, exchange, target) : undefined
  const life = asked ?? lifetime(DEFAULT_TTL, '--ttl')
  const credential = direct ?? (await issueCredential(session, target, life)).credential
  const { expirationTimestamp } = credential
  const left = secondsLeft(expirationTimestamp, direct === undefined ? life : Number.POSITIVE_INFINITY, received)
  const text = 'token' in credential ? credential.token : ''
  // A clock that is ahead of the server by the whole life says nothing about it.
  return { token: text, expirationTimestamp, received: received.getTime(), seconds: left > 0 ? left : life }
}

/** The longest sleep: a machine that was suspended renews soon after it wakes up. */
const TURN_MILLISECONDS = 15_000
const SHORTEST_MILLISECONDS = 1000
const FIRST_RETRY_MILLISECONDS = 2000
const LONGEST_RETRY_MILLISECONDS = 60_000

/** Renews the token until the process is asked to end. Throws a CliError when the server refuses. */
async function keepRenewing(io: Io, wanted: Wanted, file: string, first: Token): Promise<void> {
  let current = first
  let retry = 0
  while (await waited(io, retry || Math.max(renewalAfter(current), SHORTEST_MILLISECONDS))) {
    try {
      current = await issue(io, wanted)
      await replaceFile(file, current.token)
      if (retry > 0) note(io, `The token in ${file} is renewed again, and lives ${duration(current.seconds)}.`)
      retry = 0
    } catch (error) {
      if (io.signal.aborted) return
      if (!isPassing(error)) throw error
      const asked = Math.max(retry * 2 || FIRST_RETRY_MILLISECONDS, (error.retryAfter ?? 0) * 1000)
      retry = Math.min(asked, LONGEST_RETRY_MILLISECONDS)
      const left = current.seconds - (io.now().getTime() - current.received) / 1000
      const state = left > 0 ? `lives ${duration(left)} more` : 'has expired'
      const again = `Trying again in ${duration(retry / 1000)}.`
      note(io, `The token in ${file} ${state}, but was not renewed: ${error.message.split('\n')[0]} ${again}`)
    }
  }
}

/** Waits by the clock of the machine, and returns true then. Returns false when the process is asked to end. */
async function waited(io: Io, milliseconds: number): Promise<boolean> {
  const end = io.now().getTime() + milliseconds
  const started = io.elapsed()
  try {
    for (;;) {
      // Whichever clock says so first: one may be set back, the other stops while the machine is suspended.
      const left = Math.min(end - io.now().getTime(), milliseconds - (io.elapsed() - started))
      if (left <= 0) return true
      await io.pause(Math.min(left, TURN_MILLISECONDS))
    }
  } catch (error) {
    if (io.signal.aborted) return false
    throw error
  }
}
