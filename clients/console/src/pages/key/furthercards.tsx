import { useEffect, useRef } from 'preact/hooks'
import type { AccessKey, KeyHistory } from '../../../../core/src/objects.ts'
import type { KeyUsage } from '../../../../core/src/usage.ts'
import type { Listed } from '../../api/lists.ts'
import { paths } from '../../api/paths.ts'
import { Code } from '../../components/code.tsx'
import { isUnknown, useReading } from '../../components/hooks/usereading.ts'
import type { Polled } from '../../session/usepolled.ts'
import { type Json, toYaml } from '../../text/yaml.ts'
import { MadeCard } from './lineage/madecard.tsx'
import { HistoryCard } from './timeline/historycard.tsx'
import { AdviceCard } from './usage/advicecard.tsx'
import { TrialCard } from './usage/trialcard.tsx'
import { UseCard } from './usage/usecard.tsx'
import { ValuesCard } from './valuescard.tsx'

export interface FurtherCardsProps {
  accessKey: AccessKey
  keys: Polled<Listed<AccessKey>>
  /** Reads the key again. */
  refresh(): Promise<void>
}

/** What most people look at last: the values, what the key did and made, and the object itself. */
export function FurtherCards(props: FurtherCardsProps) {
  const usage = useReading<KeyUsage>(paths.usage(props.accessKey.metadata.name))
  const history = useReading<KeyHistory>(paths.history(props.accessKey.metadata.name))
  useAfterChange(props.accessKey, history.refresh)
  const refresh = async () => {
    usage.refresh()
    history.refresh()
    await props.refresh()
  }
  return (
    <>
      <TrialCard accessKey={props.accessKey} usage={usage.data} refresh={refresh} />
      <ValuesCard accessKey={props.accessKey} />
      {!isUnknown(usage.error) && <UseCard accessKey={props.accessKey} reading={usage} />}
      {usage.data && <AdviceCard accessKey={props.accessKey} usage={usage.data} refresh={refresh} />}
      <MadeCard accessKey={props.accessKey} keys={props.keys} history={history} />
      {!isUnknown(history.error) && <HistoryCard reading={history} />}
      <details class="card">
        <summary>YAML</summary>
        <Code title="The object, without managedFields" text={yamlOf(props.accessKey)} />
      </details>
    </>
  )
}

/** The server keeps what happened within a minute. */
const KEPT_MS = 65_000

/** Calls `read` after a change of the key, and again once the history has it. */
function useAfterChange({ metadata: { resourceVersion } }: AccessKey, read: () => void): void {
  const first = useRef(resourceVersion)
  useEffect(() => {
    if (resourceVersion === first.current) return
    read()
    const timer = setTimeout(read, KEPT_MS)
    return () => clearTimeout(timer)
  }, [resourceVersion, read])
}

/** Returns the object as the server has returned it: its value is in no answer to a read. */
function yamlOf(key: AccessKey): string {
  const { managedFields: _, ...metadata } = key.metadata as AccessKey['metadata'] & { managedFields?: unknown }
  return toYaml({ ...key, metadata } as unknown as Json)
}
