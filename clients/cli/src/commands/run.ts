/** `keyplane run`: runs one command with a narrow key, which ends with it. */
import { duration } from '../../../core/src/durations.ts'
import { prefixOf } from '../../../core/src/projects.ts'
import { lockedWords, seesAllKeys } from '../api/reviewers.ts'
import { readSelf } from '../api/self.ts'
import { openSession } from '../api/session.ts'
import { targetOf } from '../api/target.ts'
import { command } from '../arguments/command.ts'
import { lifetime } from '../arguments/durations.ts'
import { ruleOf } from '../arguments/scope.ts'
import { makeNewFile, removeNewFile } from '../config/outputfile.ts'
import { UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { demandProgram } from '../io/program.ts'
import { canAsk, confirm } from '../output/confirm.ts'
import { note, warn } from '../output/messages.ts'
import { containsSecret, demandKeepable } from '../run/environment.ts'
import { removeMade } from '../run/folder.ts'
import { makeRunKey } from '../run/key.ts'
import { runWithKey } from '../run/lifecycle.ts'
import { mayWords, scopeInFile, sessionScope } from '../run/scope.ts'
import type { Signals } from '../run/signals.ts'

const DEFAULT_LIFE = '1h'

export const run = command({
  name: ['run'],
  summary: 'Run one command with a narrow key that ends with it',
  description: [
    'For coding agents, scripts and people. The command gets a new key that may do less than yours, and a kube config of it, in a private folder. Its environment names only them: variables from which another credential can come, such as KEYPLANE_KEY, HELM_KUBETOKEN and the ID token of a job, are removed, and those that name a kube config, such as KUBE_CONFIG_PATH, name this one. The key authenticates you, with your groups. It is made with yours, so it is never allowed more, does not outlive yours, and a revocation of what yours made ends it.',
    'When the command ends, the key is deleted, and a report on standard error says what it did and what it asked for and was refused. The exit code is that of the command. Signals are passed on to it. Soon after a signal that asks it to end, the key ends even if the command continues. After SIGKILL of this program, the key ends by itself after --for.',
    'This is no sandbox. The command runs as you, and can read your files, such as your contexts and your kube config, and on most systems the environment of this program: on Linux in /proc/PID/environ. With a key in KEYPLANE_KEY, only a container or another user keeps it from the command.',
    'Without --read-only, --scope and --rule, the key may do in the cluster what you may. With several of them, it may do everything that one of them allows. --read-only gives the key role view: get, list and watch in the cluster, without Secrets, and of subresources only status, scale and pods/log. So exec, attach, port-forward and proxies are refused. So is helm, which keeps its releases in Secrets. Where service accounts issue the tokens, the RBAC of the account for role view decides instead.',
  ].join('\n\n'),
  rest: { name: 'COMMAND…', help: 'program and arguments; run without a shell' },
  options: {
    'virtual-cluster': { type: 'string', value: 'PROJECT/NAME', help: 'virtual cluster that the command gets' },
    cluster: { type: 'string', value: 'CLUSTER', help: 'connected cluster that the command gets' },
    'read-only': { type: 'boolean', help: 'allow reading in the cluster, without Secrets' },
    scope: { type: 'string', value: 'FILE', help: 'allow what the scope in this file of YAML or JSON allows' },
    rule: {
      type: 'string',
      multiple: true,
      value: 'JSON',
      help: 'allow what a rule allows. A rule that names no cluster applies to the cluster of the command',
    },
    for: { type: 'string', value: 'DURATION', help: 'how long the key lives at most', default: DEFAULT_LIFE },
    keep: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'leave this variable in the environment of the command, although it gives a credential',
    },
    // Node.js takes --env-file for itself, wherever it stands.
    'env-out': {
      type: 'string',
      value: 'FILE',
      help: 'also write the variables to this new file, as docker run --env-file reads it. It is deleted at the end',
    },
    ask: { type: 'boolean', help: 'show what the key may do, and ask before it is made' },
  },
  examples: [
    {
      does: 'Let an agent read a virtual cluster for half an hour',
      run: 'keyplane run --virtual-cluster shop/dev --read-only --for 30m -- my-agent',
    },
    {
      does: 'Let a script do what the scope in a file allows',
      run: 'keyplane run --cluster west --scope restart.yaml --for 10m -- ./restart.sh',
    },
  ],
  async run({ values, rest = [] }, io) {
    const { context, scope: scopeFile, keep, rule, ask, 'read-only': isReadOnly } = values
    const target = targetOf(values)
    const ttl = lifetime(values.for ?? DEFAULT_LIFE, '--for')
    if (target.kind === 'management' && (isReadOnly || scopeFile === undefined))
      throw new UsageError(
        isReadOnly ? '--read-only needs --virtual-cluster or --cluster.' : 'Say what the key may do.',
        'Give --virtual-cluster PROJECT/NAME or --cluster CLUSTER, or a scope with --scope FILE.',
      )
    if (ask && !canAsk(io)) throw new UsageError('--ask needs a terminal.')
    demandKeepable(keep)
    await demandProgram(rest, io.env)
    const file = scopeFile === undefined ? undefined : await scopeInFile(scopeFile)
    const environment = values['env-out'] === undefined ? undefined : await makeNewFile(values['env-out'])
    try {
      const session = await openSession(io, { context })
      const { status: self } = await readSelf(session)
      const life = shortened(io, ttl, self.expirationTimestamp)
      const locked = target.kind === 'cluster' && seesAllKeys(self) && (await lockedWords(session, target.name))
      if (locked) warn(io, locked)
      if (containsSecret(io.env, [await session.key()])) warn(io, KEY_IN_ENVIRONMENT)
      const wish = { target, prefix: prefixOf(self), isReadOnly, rules: rule.map(ruleOf), file }
      const words = (name: string) =>
        `${name}: ${mayWords(wish)}; ends in ${duration(life)} or with the command.\n${NO_SANDBOX}`
      if (ask) {
        if (!(await confirm(io, `${words('The key')}\nRun ${rest.join(' ')}?`))) {
          note(io, 'Nothing was made and nothing was run.')
          return 1
        }
      }
      const wanted = { self, scope: sessionScope(wish), ttl: life, command: rest }
      const narrow = {
        ...{ session, target, prefix: wish.prefix, life },
        make: (signals: Signals) => makeRunKey(io, session, wanted, signals),
        ...(!ask && { told: (name: string) => note(io, words(`Key ${name}`)) }),
      }
      return await runWithKey(io, narrow, { command: rest, keep, environment })
    } finally {
      if (environment) await removeMade(io, environment, removeNewFile)
    }
  },
})

const NO_SANDBOX =
  'The command gets this key and a kube config of it, not yours. It runs as you: it can still read your files.'

const KEY_IN_ENVIRONMENT =
  'your key is in the environment of this program, and the command may read it there. Only a container or another user keeps it from the command.'

/** Returns how long the key may live: no longer than that of the caller. */
function shortened(io: Io, ttl: number, expires: string | undefined): number {
  const left = expires === undefined ? ttl : Math.floor((Date.parse(expires) - io.now().getTime()) / 1000)
  if (left >= ttl || left < 1) return ttl
  warn(io, `your own key ends in ${duration(left)}, and this one with it`)
  return left
}
