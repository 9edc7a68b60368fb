import { useEffect, useRef } from 'preact/hooks'
import type { AccessKey, KeyHistory } from '../../../../core/src/objects.ts'
import type { KeyUsage } from '../../../../core/src/usage.ts'
import { paths } from '../../api/paths.ts'
import { Code } from '../../components/code.tsx'
import { isUnknown, type Reading, useReading } from '../../components/hooks/usereading.ts'
import { type Json, toYaml } from '../../text/yaml.ts'
import { MadeCard } from './madecard.tsx'
import { HistoryCard } from './timeline/historycard.tsx'
import { AdviceCard } from './usage/advicecard.tsx'
import { FormerScopeCard } from './usage/formerscope.tsx'
import { UseCard } from './usage/usecard.tsx'
import { ValuesCard } from './valuescard.tsx'

export interface FurtherCardsProps {
  accessKey: AccessKey
  history: Reading<KeyHistory>
  /** Reads the key again. */
  refresh(): Promise<void>
}

/** Two columns: what the key did and what happened to it, and its values, what it made and the object itself. */
export function FurtherCards({ accessKey, history, refresh: readKey }: FurtherCardsProps) {
  const usage = useReading<KeyUsage>(paths.usage(accessKey.metadata.name))
  useAfterChange(accessKey, history.refresh)
  const refresh = async () => {
    usage.refresh()
    history.refresh()
    await readKey()
  }
  return (
    <>
      <div>
        <FormerScopeCard accessKey={accessKey} refresh={refresh} />
        {!isUnknown(usage.error) && <UseCard accessKey={accessKey} reading={usage} />}
        {usage.data && <AdviceCard accessKey={accessKey} usage={usage.data} refresh={refresh} />}
        {!isUnknown(history.error) && <HistoryCard reading={history} />}
      </div>
      <div>
        <ValuesCard accessKey={accessKey} />
        <MadeCard accessKey={accessKey} />
        <details class="card">
          <summary>YAML</summary>
          <Code title="The object, without managedFields" text={yamlOf(accessKey)} />
        </details>
      </div>
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
