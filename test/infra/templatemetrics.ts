/** Reads the metrics that the alarms and the dashboard of a packaged template use. */

/** `metrics` are `NAMESPACE NAME DIMENSION,DIMENSION`; `values` are the literal values of dimensions by `NAMESPACE NAME DIMENSION`. */
export interface TemplateMetrics {
  metrics: ReadonlySet<string>
  values: ReadonlyMap<string, ReadonlySet<string>>
  /** Metrics of the template's own metric filters. */
  filtered: ReadonlySet<string>
}

interface Resource {
  Type: string
  // biome-ignore lint/suspicious/noExplicitAny: properties of many resource types.
  Properties: Record<string, any>
}

export const metricId = (namespace: string, name: string, dimensions: readonly string[]) =>
  [namespace, name, dimensions.toSorted().join(',')].join(' ').trim()

export function readTemplateMetrics(text: string): TemplateMetrics {
  const resources = Object.values((JSON.parse(text) as { Resources: Record<string, Resource> }).Resources)
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type).map(({ Properties }) => Properties)
  const metrics = new Set<string>()
  const values = new Map<string, Set<string>>()
  const addMetric = (namespace: string, name: string, dimensions: readonly (readonly [string, string])[]) => {
    const id = metricId(
      namespace,
      name,
      dimensions.map(([dimension]) => dimension),
    )
    metrics.add(id)
    for (const [dimension, value] of dimensions) {
      const key = `${namespace} ${name} ${dimension}`
      values.set(key, (values.get(key) ?? new Set()).add(value))
    }
  }
  for (const { Namespace, MetricName, Dimensions = [] } of ofType('AWS::CloudWatch::Alarm')) {
    addMetric(
      Namespace,
      MetricName,
      Dimensions.map(({ Name, Value }: { Name: string; Value: unknown }) => [Name, String(Value)]),
    )
  }
  for (const { DashboardBody } of ofType('AWS::CloudWatch::Dashboard')) {
    for (const { properties } of JSON.parse(DashboardBody['Fn::Sub']).widgets) {
      let last: string[] = []
      for (const row of (properties.metrics ?? []) as (string | { expression?: string })[][]) {
        const options = row.find((one) => typeof one === 'object') as { expression?: string } | undefined
        if (options?.expression !== undefined) throw new TypeError(`not understood here: ${options.expression}`)
        last = whole(
          row.filter((one) => typeof one === 'string'),
          last,
        )
        const [namespace = '', name = '', ...pairs] = last
        addMetric(
          namespace,
          name,
          pairs.flatMap((one, index) => (index % 2 === 0 ? [[one, pairs[index + 1] ?? ''] as const] : [])),
        )
      }
    }
  }
  const filtered = ofType('AWS::Logs::MetricFilter').flatMap(({ MetricTransformations }) =>
    MetricTransformations.map(({ MetricNamespace, MetricName }: Record<string, string>) =>
      metricId(MetricNamespace ?? '', MetricName ?? '', []),
    ),
  )
  return { metrics, values, filtered: new Set(filtered) }
}

/** `.` repeats the value of the previous row at this position, `...` all its values except the last ones. */
function whole(row: readonly string[], before: readonly string[]): string[] {
  if (row[0] === '...') return [...before.slice(0, before.length - (row.length - 1)), ...row.slice(1)]
  return row.map((one, index) => (one === '.' ? (before[index] ?? '') : one))
}
