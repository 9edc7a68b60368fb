import type { AccessKey } from '../../../../core/src/objects.ts'
import { Foreign } from '../../components/foreign.tsx'
import { Notice } from '../../components/notice.tsx'
import { Time } from '../../components/time.tsx'

/** Says that the value of the key was reported as leaked, and what to do. */
export function LeakNotice({ accessKey: { spec, status } }: { accessKey: AccessKey }) {
  const { leak, values = [] } = status ?? {}
  if (!leak) return null
  const isRotated = values.length > 0
  return (
    <Notice tone="bad" title="The value of this key was reported as leaked">
      <p>
        It was reported <Time at={leak.reported} direction="past" isDated />
        {leak.url && (
          <>
            , found at <Foreign text={leak.url} />
          </>
        )}
        , and never works again. {isRotated ? 'The key has a new value that nothing has used yet.' : 'No value works.'}
      </p>
      <ol>
        <li>
          {isRotated ? 'The key has been rotated. Store its new value.' : 'Rotate the key, and store its new value.'}
        </li>
        <li>{spec.disabled ? 'Enable the key.' : 'The key is enabled.'}</li>
      </ol>
    </Notice>
  )
}
