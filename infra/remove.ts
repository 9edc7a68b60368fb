/** Removes a deployment, but for what cannot be made again: its table, pepper and signing key stay and are named. */
import { createInterface } from 'node:readline/promises'
import { type Command, run, UsageError } from './command.ts'
import { osls, outputsOf, target, toolArguments } from './osls.ts'

const COMMAND = {
  call: 'npm run remove',
  about: `Removes a deployment: its API and address, its functions, the secret of its first key, and its logs with the audit
records. The table, the pepper, the signing keys and the secrets of virtual clusters stay.`,
  options: { ...target, yes: { type: 'boolean', help: 'do not ask; needed where there is no terminal to ask in' } },
} as const satisfies Command

/** Asks for the name of the deployment, which nobody types by accident. */
async function confirmed(stage: string, url: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question(`This ends ${url}
and deletes its logs with the audit records. Nobody can bring them back; another deployment has another address.
Type the stage, ${stage}, to remove it: `)
    return answer.trim() === stage
  } finally {
    terminal.close()
  }
}

await run(COMMAND, async ({ yes, ...deployment }) => {
  if (!yes && !process.stdin.isTTY) {
    throw new UsageError('there is no terminal to ask in: --yes removes the deployment without a question')
  }
  const named = toolArguments(deployment)
  const { Url, TableName, PepperSecretId, SigningKeyId } = await outputsOf(named)
  if (!yes && !(await confirmed(deployment.stage, String(Url)))) throw new Error('nothing is removed')
  await osls('remove', named)
  process.stdout.write(`removed; left are
table         ${TableName}
pepper        ${PepperSecretId}
signing key   ${SigningKeyId}
`)
})
