/** `keyplane clusters create`: gives a connected cluster an address. */
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { mayBeMade } from '../../../../core/src/answers.ts'
import { asCluster, clusterPath, demandClusterName } from '../../api/clusters.ts'
import { NetworkError } from '../../api/https.ts'
import { openSession, type Session } from '../../api/session.ts'
import { StatusError } from '../../api/status.ts'
import { command } from '../../arguments/command.ts'
import { CliError, UsageError } from '../../io/errors.ts'
import { isLocal } from '../../kubeconfig/givenaddress.ts'
import { note, warn } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { facts } from '../../output/table.ts'
import { addressFields, clusterOptions, givenAddress, givenFields } from './fields.ts'
import { factsOf } from './show.ts'

export const clustersCreate = command({
  name: ['clusters', 'create'],
  summary: 'Give a connected cluster an address, so that others get kube configs of it',
  description:
    'Scopes and tokens name the cluster by the same name. The address is the one that clients use; the server itself connects to it only on Amazon EKS. Credentials in the kube config are not read.\n\n' +
    'Only administrators can create clusters. Others see the cluster if --user or --team names them. "keyplane clusters connect" makes the rest of what connects a cluster, too.',
  positionals: [{ name: 'NAME', help: 'name of the cluster in scopes: lowercase letters, digits and -' }],
  options: clusterOptions,
  formats: ['json', 'yaml', 'name'],
  examples: [
    {
      does: 'Take the address from the kube config that you have for the cluster',
      run: 'keyplane clusters create west --from-kubeconfig west.kubeconfig --display-name "West, production"',
    },
    {
      does: 'Take that of one context',
      run: 'keyplane clusters create west --from-kubeconfig config --from-context admin@west',
    },
    {
      does: 'Let a team use it at once',
      run: 'keyplane clusters create west --from-kubeconfig west.kubeconfig --team shop',
    },
    {
      does: 'Reach a cluster of Amazon EKS, whose service accounts issue the tokens',
      run: 'keyplane clusters create west --from-kubeconfig west.kubeconfig --eks west --region eu-west-1',
    },
    {
      does: 'Write the address',
      run: 'keyplane clusters create west --server https://west.example.com --ca west-ca.crt',
    },
  ],
  async run({ values, positionals: [name = ''] }, io) {
    const { context, output } = values
    demandClusterName(name)
    const address = await givenAddress(values)
    if (address === undefined) throw new UsageError('Give either --from-kubeconfig FILE or --server URL.')
    const { server } = address
    const object = {
      apiVersion: 'management.platform/v1',
      kind: 'Cluster',
      metadata: { name },
      spec: { ...givenFields(values), ...addressFields(address) },
    }
    if (isLocal(server)) warn(io, 'only this machine reaches the server, and kube configs of others name it')
    const dryRun = values['dry-run']
    const created = await create(await openSession(io, { context }), object, dryRun)
    if (dryRun) note(io, 'Dry run: the server would create this cluster.')
    if (output !== undefined) return printAs(output, created, io)
    if (!dryRun) note(io, `Created the cluster ${name}.`)
    io.err(facts(factsOf(asCluster(created), io), '  '))
  },
})

/** Creates the cluster. After a failure of the network it may exist, which the message then says. */
async function create(session: Session, object: JsonObject, dryRun: boolean): Promise<JsonObject> {
  try {
    return await session.post(clusterPath(), object, { dryRun })
  } catch (error) {
    const lost = error instanceof NetworkError || (error instanceof StatusError && mayBeMade(error.code))
    if (dryRun || !lost) throw error
    throw new CliError(error.message, {
      exitCode: error.exitCode,
      hint: 'The cluster may have been created. Look with: keyplane clusters list',
      cause: error,
    })
  }
}
