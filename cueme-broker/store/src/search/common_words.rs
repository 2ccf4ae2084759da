//! Stop words: words too common to identify an agent.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::stem;

/// Says whether a recall ignores a word.
pub(super) fn is_stop_word(word: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    SET.contains(word)
}

/// Says whether a word, in any form of it, is one of the trade that is common in conversations: it gets half the weight.
pub(super) fn is_weak_word(word: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> =
        LazyLock::new(|| WEAK_WORDS.split_whitespace().map(stem).collect());
    STEMS.contains(&stem(word))
}

/// Says whether a recall ignores a pair of characters.
pub(super) fn is_stop_pair(pair: &str) -> bool {
    static SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_PAIRS.split_whitespace().collect());
    SET.contains(pair)
}

const STOP_WORDS: &str = "
    a an the and or but nor if then than so as of at by for from in into on onto to with without within
    over under about above after before again between during since until up down out off i me my we us
    our you your he she it its they them their this that these those there here who whom which what when
    where why how is are was were be been being am do does did done doing have has had having can could
    may might must shall should will would not no yes ok just only also very too more most some any all
    each every other others another same such both one ones thing things something anything stuff agent
    agents cueme cue human humans user person people conversation session chat task tasks work working
    worked job project projects question questions answer answers answered ask asked asking asks told
    tell tells say said says want wanted wants need needs needed like use used using make made get got
    go going let lets please remember remembered earlier previous previously last time yesterday today
    recently old new continue fix fixed fixing problem problems issue issues code change changed changes
    changing add added adding vs versus instead still id know knew think thing talked talking talk
    discussed discuss helped where while because whether well now ever yet im ive
";

const WEAK_WORDS: &str = "
    raise lower update upgrade run build test file error fail failure wrong right times day days first
    second third two three four five page set setting start stop try number limit slow fast big large
    small keep remove delete replace move show open close closed write read check look find help good
    bad long short week hour minute data list name version app api web login table column server service
    client system machine end separate night date call request value type order bit kind part state text
    line key point format support default example result handle return create implement implementation
    feature function method class module library branch commit merge release deploy production staging
    local remote config configuration option allow break broken review comment temperature script tool
    input output log logs path folder directory repo repository package dependency refactor rename
    cleanup debug bug crash performance memory database design plan step phase finish finished ready
    decide decided choose chose choice pick picked
";

const STOP_PAIRS: &str = "
    我们 你们 他们 这个 那个 什么 怎么 可以 是否 需要 请问 问题 之前 上次 关于 的时 时候 要不 不要 还是 没有 一个 一下 如何
    继续 任务 工作 项目 回答 人类 用户 处理 怎样 为什 么处 理的 我是 是谁 问过 说过 讨论 我的 时间 那次 当时 です ます した
    する こと いい です から ある いる
";
