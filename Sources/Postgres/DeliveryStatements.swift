// The statements of delivery and of what happens with time, embedded from sql/queries.

extension Statement {
    static let claimOrders = Statement("claim_orders", .write, PackageResources.claim_orders_sql)
    static let claimAnnouncements = Statement(
        "claim_announcements", .write, PackageResources.claim_announcements_sql)
    static let loadSettlement = Statement(
        "load_settlement", .read, PackageResources.load_settlement_sql)
    static let settleOrder = Statement("settle_order", .write, PackageResources.settle_order_sql)
    static let markOrderUnknown = Statement(
        "mark_order_unknown", .write, PackageResources.mark_order_unknown_sql)
    static let retryOrder = Statement("retry_order", .write, PackageResources.retry_order_sql)
    static let retryAnnouncement = Statement(
        "retry_announcement", .write, PackageResources.retry_announcement_sql)
    static let settleAnnouncement = Statement(
        "settle_announcement", .write, PackageResources.settle_announcement_sql)
    static let loadReceipt = Statement("load_receipt", .read, PackageResources.load_receipt_sql)
    static let recordContradiction = Statement(
        "record_contradiction", .write, PackageResources.record_contradiction_sql)
    static let dueActions = Statement("due_actions", .read, PackageResources.due_actions_sql)
    static let expireAction = Statement(
        "expire_action", .write, PackageResources.expire_action_sql)
    static let releaseAction = Statement(
        "release_action", .write, PackageResources.release_action_sql)
    static let forgetIdempotency = Statement(
        "forget_idempotency", .write, PackageResources.forget_idempotency_sql)
    static let ensurePartitions = Statement(
        "ensure_partitions", .write, PackageResources.ensure_partitions_sql)
    static let partitionExists = Statement(
        "partition_exists", .read, PackageResources.partition_exists_sql)
    static let claimEventPush = Statement(
        "claim_event_push", .write, PackageResources.claim_event_push_sql)
    static let settleEventPush = Statement(
        "settle_event_push", .write, PackageResources.settle_event_push_sql)
    static let retryEventPush = Statement(
        "retry_event_push", .write, PackageResources.retry_event_push_sql)
}
