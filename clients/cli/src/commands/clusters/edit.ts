/** `keyplane clusters edit`: changes the object of a connected cluster. */
import type { JsonObject, JsonValue } from '../../../../../lib/engine/meta/types.ts'
import { asCluster, clusterPath } from '../../api/clusters.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { UsageError } from '../../io/errors.ts'
import { isLocal } from '../../kubeconfig/givenaddress.ts'
import { agreed, demandTerminal, yesOption } from '../../output/confirm.ts'
import { note, warn } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { facts } from '../../output/table.ts'
import { accessOf, addressFields, clusterOptions, givenAddress, givenFields } from './fields.ts'
import { factsOf } from './show.ts'

export const clustersEdit = command({
  name: ['clusters', 'edit'],
  summary: 'Change a connected cluster: its address, texts, and who gets kube configs of it',
  description:
    'Users and teams are added to those who may use the cluster; with --only-these nobody else may. The command asks before somebody may use it no longer, and before other tokens are issued. Without a terminal it then needs --yes.',
  positionals: [{ name: 'NAME', help: 'name of the cluster', names: 'clusters' }],
  options: {
    ...clusterOptions,
    'only-these': { type: 'boolean', help: 'only the users and teams above may use it; without any, administrators' },
    ...yesOption,
  },
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Let a team use a cluster', run: 'keyplane clusters edit west --team shop' },
    { does: 'Let nobody but Alice use it', run: 'keyplane clusters edit west --user alice --only-these' },
    { does: 'Take a new address', run: 'keyplane clusters edit west --from-kubeconfig west.kubeconfig' },
  ],
  async run({ values, positionals: [name = ''] }, io) {
    const { context, output, yes, 'only-these': only, 'dry-run': dryRun } = values
    const address = await givenAddress(values)
    const { access: _, ...fields } = givenFields(values)
    const rule = accessOf(values)
    if (address === undefined && Object.keys(fields).length === 0 && rule === undefined && !only)
      throw new UsageError('What should change? Give an option.', 'Run "keyplane clusters edit --help" for them.')
    const session = await openSession(io, { context })
    const path = clusterPath(name)
    const cluster = asCluster(await session.get(path))
    const before = (cluster.spec?.access ?? []) as unknown as JsonValue[]
    const isKnown = before.some((one) => JSON.stringify(one) === JSON.stringify(rule))
    const access = only ? (rule ? [rule] : []) : rule === undefined || isKnown ? before : [...before, rule]
    const body = {
      metadata: { uid: cluster.metadata.uid, resourceVersion: cluster.metadata.resourceVersion },
      spec: {
        // A new address has its own authority and its own way to it.
        ...(address && {
          certificateAuthorityData: null,
          proxyURL: null,
          tlsServerName: null,
          ...addressFields(address),
        }),
        ...fields,
        ...((rule !== undefined || only) && { access }),
      },
    }
    if (address && isLocal(address.server))
      warn(io, 'only this machine reaches the server, and kube configs of others name it')
    const send = (isDry: boolean): Promise<JsonObject> =>
      session.patch(path, body, { dryRun: isDry, repeatable: isDry })
    const takes = only || (fields.tokens !== undefined && fields.tokens !== (cluster.spec?.tokens ?? 'Issuer'))
    if (takes && !yes && !dryRun) demandTerminal(io, 'Look first with --dry-run, then repeat it with --yes.')
    if (dryRun || (takes && !yes)) {
      const checked = await send(true)
      io.err(facts(factsOf(asCluster(checked), io), '  '))
      if (dryRun) {
        note(io, 'Dry run: the server would change the cluster so.')
        return output === undefined ? undefined : printAs(output, checked, io)
      }
      if (!(await agreed(io, `Change the cluster ${name}?`))) return
    }
    const changed = await send(false)
    if (output !== undefined) return printAs(output, changed, io)
    note(io, `The cluster ${name} is changed.`)
    if (!takes || yes) io.err(facts(factsOf(asCluster(changed), io), '  '))
  },
})
