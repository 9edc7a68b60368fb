/** Removes a deployment, except for what cannot be recreated: prints the names of its table, pepper and signing key. */
import { createInterface } from 'node:readline/promises'
import { type Command, runCommand, UsageError } from './command.ts'
import { osls, outputsOf, target, toolArguments } from './osls.ts'

const COMMAND = {
  call: 'npm run remove',
  about: `Removes a deployment: its API and address, its functions, the secret of its first key, and its logs with the
audit records. Keeps the table, the pepper, the signing keys, the secrets of clusters, a bucket with audit records,
and what others made for the deployment: the role for clusters of Amazon EKS with its access entries, and the accounts
in clusters.`,
  options: {
    ...target,
    yes: { type: 'boolean', help: 'skip the confirmation; required without a terminal' },
    'delete-audit-records': {
      type: 'boolean',
      help: 'delete the audit records in the logs; required',
    },
  },
} as const satisfies Command

/** Asks for the name of the deployment, to prevent accidents. */
async function confirm(stage: string, url: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question(`This removes ${url}
and deletes its logs with the audit records. This cannot be undone; without a domain, a new deployment gets another address.
Type the stage, ${stage}, to remove it: `)
    return answer.trim() === stage
  } finally {
    terminal.close()
  }
}

await runCommand(COMMAND, async ({ yes, 'delete-audit-records': deletesAudit, ...deployment }) => {
  if (!yes && !process.stdin.isTTY) {
    throw new UsageError('confirmation requires a terminal: use --yes to remove the deployment without it')
  }
  const named = toolArguments(deployment)
  const { Url, TableName, PepperSecretId, SigningKeyId, AuditBucketName } = await outputsOf(named)
  if (!deletesAudit)
    throw new UsageError(
      'the logs have audit records: export those that you must keep, then use --delete-audit-records to delete them with the deployment',
    )
  if (!yes && !(await confirm(deployment.stage, String(Url)))) throw new Error('nothing was removed')
  await osls('remove', named)
  process.stdout.write(`removed; kept:
table         ${TableName}
pepper        ${PepperSecretId}
signing key   ${SigningKeyId}
clusters      secrets below keyplane/${deployment.stage}/; if clusters of EKS know it, the role keyplane-${deployment.stage}-clusters
              with its access entries; accounts of keyplane in clusters (docs/clusters.md)
${AuditBucketName === undefined ? '' : `audit bucket  ${AuditBucketName}\n`}`)
})
