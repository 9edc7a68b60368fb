/** `keyplane clusters disconnect`: says what remains in a cluster, and deletes its object. */

import { ACCESS_KEY, clusterFileNames, clusterFlags } from '../../../../../lib/clusters/connect/clusterfiles.ts'
import type { Cluster } from '../../../../core/src/objects.ts'
import { asCluster, clusterPath } from '../../api/clusters.ts'
import { reviewersOf } from '../../api/reviewers.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { agreed, demandTerminal, yesOption } from '../../output/confirm.ts'
import { note } from '../../output/messages.ts'
import { plainLines } from '../../output/plain.ts'

export const clustersDisconnect = command({
  name: ['clusters', 'disconnect'],
  summary: 'Show what remains in a connected cluster and how to remove it, then delete its object',
  description:
    'Deleting the object ends no access, unless service accounts issue the tokens: keys still make tokens for the cluster, which it accepts until its API server is disconnected. The command prints the steps for that, and then asks before it deletes the object. It changes nothing in the cluster.',
  positionals: [{ name: 'NAME', help: 'name of the cluster', names: 'clusters' }],
  options: {
    ...yesOption,
    'dry-run': { type: 'boolean', help: 'print the steps, let the server check everything, and delete nothing' },
  },
  examples: [
    { does: 'Print what remains, and delete nothing', run: 'keyplane clusters disconnect west --dry-run' },
    { does: 'Delete the object, after a question', run: 'keyplane clusters disconnect west' },
  ],
  async run({ values: { context, yes, 'dry-run': dryRun }, positionals: [name = ''] }, io) {
    if (!yes && !dryRun) demandTerminal(io, 'Look first with --dry-run, then repeat it with --yes.')
    const session = await openSession(io, { context })
    const cluster = asCluster(await session.get(clusterPath(name)))
    const { uid } = cluster.metadata
    const isByAccounts = cluster.spec?.tokens === 'ServiceAccounts'
    io.out(
      `${plainLines(
        isByAccounts
          ? accountsRemain(cluster)
          : remains(
              name,
              (await reviewersOf(session, name)).map(({ metadata }) => metadata.name),
            ),
      )}\n`,
    )
    if (!yes && !dryRun && !(await agreed(io, `Delete the object of cluster ${name}?`))) return
    // A cluster that took the name meanwhile is not deleted.
    await session.delete(clusterPath(name), { dryRun }, { preconditions: { uid } })
    note(io, dryRun ? 'Dry run: the server would delete the object.' : `The object of cluster ${name} is deleted.`)
  },
})

/** Where `clusters connect` expects its files, unless `--directory` says otherwise. */
const FOLDER = '/etc/kubernetes/keyplane'
const FLAGS = clusterFlags({ directory: FOLDER })
const FILES = [...clusterFileNames, ACCESS_KEY]

const remains = (name: string, keys: readonly string[]): string => `In cluster ${name} these remain. To remove them:

1. The access key with which the cluster sends its reviews. Without it, the cluster refuses all users of keyplane. A cluster that is
   configured with --when-away rbac refuses only those whom scopes restrict, so begin with step 2 there:
${
  keys.length > 0
    ? keys.map((key) => `     keyplane keys delete ${key}`).join('\n')
    : `     kubectl get ownedaccesskeys | grep agent   # none of user agent-${name} is known: it is the one in keyplane-access-key`
}
2. On each control plane node, the flags of kube-apiserver:
${FLAGS.map((flag) => `     ${flag}`).join('\n')}
   Set --authorization-mode=Node,RBAC again. When the API server has restarted, remove their files. The folder has no others:
${FILES.map((file) => `     rm ${FOLDER}/${file}`).join('\n')}
3. Bindings of users and groups of keyplane, with an administrator's kube config of the cluster. Users have their plain names:
     kubectl get clusterrolebindings,rolebindings -A -o wide | grep -E 'platform:admins|team:|subject:'
     kubectl delete clusterrolebinding platform-admins
4. Entries of clusters in scopes, which name ${name}. They still let keys make tokens for it.
`

/** Of a cluster whose service accounts issue the tokens, which end with the object. */
function accountsRemain({ metadata: { name }, spec: { serviceAccounts, credentials } = {} }: Cluster): string {
  const namespace = serviceAccounts?.namespace || 'keyplane'
  const { eks } = credentials ?? {}
  return `The tokens of cluster ${name} end with its object. These remain. To remove them, after that:

1. The accounts of users, and the role of keyplane, with an administrator's kube config of the cluster:
     kubectl delete namespace ${namespace}${eks ? '' : ` ${namespace}-system`}
   Bindings in other namespaces name accounts that are gone:
     kubectl get clusterrolebindings,rolebindings -A -o wide | grep ${namespace}/
${
  eks
    ? `2. The access entry of the role with which keyplane reaches the cluster:
     aws eks list-access-entries --region ${eks.region} --cluster-name ${eks.clusterName}
     aws eks delete-access-entry --region ${eks.region} --cluster-name ${eks.clusterName} --principal-arn ARN
   The ARN ends in keyplane-STAGE-clusters.`
    : `2. The secret with the credentials in AWS Secrets Manager:
     aws secretsmanager delete-secret --secret-id keyplane/STAGE/clusters/${credentials?.secretRef?.name || name}`
}
3. Entries of clusters in scopes, which name ${name}.
`
}
