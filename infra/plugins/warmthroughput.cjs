/**
 * Sets the warm throughput of the table from the settings `warm-read-units` and `warm-write-units`. Without them DynamoDB
 * decides: a new table starts with 12,000 read units and 4,000 write units a second.
 */

module.exports = class WarmThroughput {
  constructor(serverless) {
    this.hooks = { 'before:package:initialize': () => this.warm(serverless.service) }
  }

  warm({ custom, resources }) {
    const { 'warm-read-units': reads, 'warm-write-units': writes } = custom.settings
    if (!reads && !writes) return
    resources.Resources.Table.Properties.WarmThroughput = {
      ...(reads && { ReadUnitsPerSecond: Number(reads) }),
      ...(writes && { WriteUnitsPerSecond: Number(writes) }),
    }
  }
}
