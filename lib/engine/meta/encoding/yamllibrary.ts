/**
 * Selects the parts of js-yaml in use. A lazy import of this module bundles only these parts; a lazy import of the package
 * would bundle all of it.
 */
export {
  COLLECTION_STYLE,
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  EVENT_ID,
  type Event,
  getScalarValue,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
} from 'js-yaml'
