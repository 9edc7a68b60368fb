/** `keyplane clusters list`: shows connected clusters as a table. */
import type { Cluster } from '../../../../core/src/objects.ts'
import { asCluster, clusterPath } from '../../api/clusters.ts'
import { listAll } from '../../api/lists.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { note } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { outputTable } from '../../output/table.ts'

const HEADER = ['NAME', 'SERVER', 'YOU CAN USE IT', 'DISPLAY NAME']

export const clustersList = command({
  name: ['clusters', 'list'],
  summary: 'List the connected clusters that you may see',
  options: {
    selector: {
      type: 'string',
      short: 'l',
      value: 'SELECTOR',
      help: 'only clusters with these labels, such as region=eu,env!=dev',
    },
  },
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'List all clusters that you may see', run: 'keyplane clusters list' },
    { does: 'List the clusters with a label', run: 'keyplane clusters list -l region=eu' },
  ],
  async run({ values: { context, output, selector } }, io) {
    const session = await openSession(io, { context })
    const query = selector === undefined ? {} : { labelSelector: selector }
    const list = await listAll(session, clusterPath(), query)
    if (output !== undefined) return printAs(output, list, io)
    if (list.items.length === 0) {
      const none =
        'There are no clusters that you can see. A cluster needs no object to be connected: its name is enough for tokens.'
      note(io, selector === undefined ? none : 'No cluster matches.')
      return
    }
    io.out(
      outputTable(
        HEADER,
        list.items.map((one) => rowOf(asCluster(one))),
        io,
      ),
    )
  },
})

const rowOf = ({ metadata, spec, status }: Cluster): string[] => [
  metadata.name,
  spec?.server ?? '',
  status?.canUse ? 'yes' : 'no',
  spec?.displayName ?? '',
]
