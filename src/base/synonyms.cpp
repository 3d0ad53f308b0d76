// Names used by other programs (JoeyNMT, OpenNMT-py, fairseq, Marian, sacreBLEU, Hugging Face) for
// the commands, options, configuration keys and values of regard. A name may have several meanings
// here: suggest() considers only the words that are allowed where the name was found.
#include <algorithm>

#include "base/strings.h"
#include "base/suggest.h"

namespace regard {
namespace {

struct Synonyms {
  std::string_view names;     // of other programs, separated by spaces
  std::string_view meanings;  // words of regard, separated by spaces, the most likely first
};

constexpr Synonyms table[] = {
    // Commands.
    {"fit learn finetune resume continue restart onmt_train fairseq_train marian", "train"},
    {"decode decoder generate infer inference predict interactive onmt_translate marian_decoder "
     "fairseq_generate fairseq_interactive",
     "translate"},
    {"backtranslate back_translate backtranslation back_translation selftrain self_train "
     "self_training distil distill distillation forward_translate augment synthesise",
     "synthesize"},
    {"eval test validate sacrebleu metrics compare", "evaluate"},
    {"rescore scorer marian_scorer force_decode logprob align", "score"},
    {"mert kbmira tune_weights rescore reorder", "rerank"},
    {"avg mean average_checkpoints average_models avg_checkpoints", "average"},
    {"quantise compress int8 release_model ct2-transformers-converter", "quantize"},
    {"show describe inspect summary model_info", "info"},
    {"plot visualize visualise dashboard curves", "report"},
    {"configure configuration", "config"},
    {"new create quickstart", "init"},
    {"import joeynmt", "convert"},
    {"dump show view", "print"},
    {"complete completion autocomplete", "completions"},
    {"manual", "man"},
    // Options and keys of the search.
    {"testing", "search"},
    {"beam beams beam_width num_beams beamsize width", "beam_size"},
    {"nbest num_return_sequences print_nbest", "n_best"},
    {"lenpen alpha length_alpha len_penalty length_penalty_alpha normalize", "beam_alpha"},
    {"beta coverage_penalty", "coverage_beta"},
    {"max_length max_len max_len_b max_output max_decode_length max_new_tokens",
     "max_output_length max_length"},
    {"max_len_a max_length_factor max_ratio max_length_ratio", "max_output_ratio max_ratio"},
    {"min_length min_len min_decode_length", "min_output_length"},
    {"no_repeat_ngram_size block_ngram_repeat ngram_block", "no_repeat_ngram"},
    {"replace_unk unk_replace", "replace_unknown"},
    {"phrase_table lexicon", "dictionary"},
    {"alignment print_alignment report_align return_attention attention", "alignments"},
    {"sampling num_samples sample output_sampling", "samples sampling"},
    {"sampling_topk random_sampling_topk topk", "top_k"},
    {"sampling_topp random_sampling_topp topp nucleus", "top_p"},
    {"sampling_temperature random_sampling_temp temp", "temperature"},
    {"mbr_decoding minimum_bayes_risk mbr_metric utility mbr_utility", "mbr"},
    {"diverse_beam_groups num_beam_groups", "beam_groups"},
    {"diverse_beam_strength diversity_penalty diversity_rate", "diversity"},
    {"mini_batch mini_batch_words max_tokens max_sentences batch maxi_batch train_batch_size",
     "batch_size"},
    {"prefix prefix_size tgt_prefix", "prefixes"},
    {"constraints force_words lexical_constraints", "require"},
    {"bad_words banned", "ban"},
    // Single letters, as in "-b 5".
    {"b", "beam_size"},
    {"n", "n_best last"},
    {"s", "input src"},
    {"r t", "ref trg"},
    {"d", "device"},
    {"j", "threads"},
    // Files, models and machines.
    {"models path checkpoint checkpoints checkpoint_path ckpt load_model model_path model_dir",
     "model"},
    {"src source src_file source_file test text", "input src"},
    {"source input src_file source_file", "src"},
    {"ref refs reference references tgt trg target tgt_file", "ref trg"},
    {"out output_path output_file save results", "output"},
    {"hyp hyps hypothesis translations pred preds predictions sys system", "hypotheses"},
    {"target tgt tgt_file target_file", "trg"},
    {"cpu_threads num_workers workers cores num_threads jobs nproc", "threads"},
    {"gpu gpus gpu_rank gpu_ranks world_size devices cuda use_cuda cpu cpus no_cuda", "device"},
    {"weights ensemble_weight", "ensemble_weights"},
    {"tok tokenizer tokenization", "tokenize tokenizer"},
    {"metric", "metrics"},
    {"lc lowercase lower do_lower_case", "lowercase"},
    {"ci bootstrap confidence_interval", "confidence"},
    {"verbose_off silent", "quiet"},
    {"overwrite no_reload no_restore reset reset_optimizer", "fresh"},
    {"train_from finetune_from_model pretrained_model load_state_dict restore_file load_model "
     "pretrained",
     "init_from"},
    {"dry check validate_config", "dry_run"},
    // Keys of the configuration.
    {"save_dir save_model model_dir output output_dir experiment_dir run_dir", "model_dir"},
    {"max_epoch max_epochs num_epochs num_train_epochs after_epochs epoch", "epochs"},
    {"max_update max_updates updates train_steps after_batches num_updates steps total_num_update",
     "max_steps"},
    {"max_time stop_time_hours max_seconds max_hours time_limit time_budget", "max_minutes"},
    {"lr learn_rate peak_lr", "learning_rate"},
    {"stop_min_lr min_lr end_learning_rate", "learning_rate_min"},
    {"warmup warmup_updates learning_rate_warmup lr_warmup num_warmup_steps warm_up",
     "warmup_steps"},
    {"lr_scheduler lr_scheduler_type decay_method schedule scheduler", "scheduling"},
    {"lr_shrink learning_rate_decay lr_decay lr_decay_factor", "decrease_factor"},
    {"lr_patience", "decrease_patience"},
    {"optim", "optimizer"},
    {"adam_eps adam_epsilon eps", "epsilon"},
    {"seed manual_seed", "random_seed"},
    {"update_freq accum_count batch_multiplier optimizer_delay gradient_accumulation_steps",
     "gradient_accumulation"},
    {"clip_norm clip_grad max_grad_norm clip gradient_clip_val", "clip_grad_norm"},
    {"smoothing", "label_smoothing"},
    {"criterion loss loss_function cost cost_type", "objective"},
    {"mrt minimum_risk_training", "minimum_risk"},
    {"mrt_alpha sharpness smoothness", "alpha"},
    {"mrt_reference reference add_reference", "include_reference"},
    {"mrt_ml_mix ml_mix ce_weight mle_weight", "likelihood_weight"},
    {"mrt_loss", "metric"},
    {"samplesn mrt_samples sample_size n_samples", "samples"},
    {"ema exponential_smoothing average_decay", "moving_average"},
    {"fp16 bf16 amp use_amp mixed_precision half memory_efficient_fp16 model_dtype compute_type "
     "int8 autocast",
     "precision"},
    {"validation_freq valid_freq valid_steps validate_interval validate_interval_updates "
     "eval_steps eval_every validation_interval",
     "validation_every"},
    {"best_checkpoint_metric eval_metric early_stopping_criteria metric_for_best_model stopping",
     "early_stopping_metric"},
    {"early_stopping early_stop", "patience"},
    {"logging_freq log_freq disp_freq report_every log_interval logging_steps", "logging_every"},
    {"save_freq save_checkpoint_steps save_interval save_interval_updates save_steps "
     "checkpoint_every",
     "save_every"},
    {"keep_best_ckpts keep_best_checkpoints save_total_limit", "keep_best"},
    {"keep_last_ckpts keep_checkpoint keep_last_epochs keep_interval_updates keep_last",
     "keep_newest"},
    {"print_valid_sents", "show_examples"},
    {"vocab_size voc_limit src_vocab_size tgt_vocab_size dim_vocabs max_vocab vocab",
     "vocabulary_size"},
    {"voc_min_freq min_freq src_words_min_frequency vocab_min_freq", "min_frequency"},
    {"share_vocab joined_dictionary shared_vocab joint_vocab", "joint"},
    {"src_vocab source_vocab src_voc_file srcdict", "src_file"},
    {"tgt_vocab trg_vocab target_vocab trg_voc_file tgtdict", "trg_file"},
    {"max_sent_length src_seq_length tgt_seq_length", "max_length"},
    {"valid validation val", "dev"},
    {"num_layers enc_layers dec_layers enc_depth dec_depth encoder_layers decoder_layers n_layers",
     "layers"},
    {"num_heads transformer_heads n_heads attention_heads encoder_attention_heads "
     "decoder_attention_heads",
     "heads"},
    {"rnn_size dim_rnn hidden_dim dim hid_size encoder_hidden_size hidden", "hidden_size"},
    {"emb_size dim_emb word_vec_size embed_dim emb_dim embedding_size encoder_embed_dim "
     "decoder_embed_dim src_word_vec_size tgt_word_vec_size",
     "embedding_dim"},
    {"ff_size transformer_ff ffn_embed_dim transformer_dim_ffn ffn_dim encoder_ffn_embed_dim "
     "decoder_ffn_embed_dim",
     "feed_forward_size"},
    {"layer_norm_position norm_first", "norm"},
    {"position_encoding positional_encoding", "position"},
    {"input_feed", "input_feeding"},
    {"init_hidden init_state", "initial_state"},
    {"rnn_type enc_cell dec_cell cell_type", "cell"},
    {"encoder_type decoder_type type", "kind"},
    {"tie_embeddings tied_embeddings_all share_embeddings share_all_embeddings tied_softmax "
     "share_decoder_embeddings weight_tying",
     "tied_embeddings"},
    // Values.
    {"bahdanau mlp concat_mlp", "additive"},
    {"luong bilinear multiplicative", "general dot"},
    {"scaled sdpa", "scaled_dot"},
    {"multihead mha", "multi_head"},
    {"fixed no off null false", "none"},
    {"local local_predictive", "local_p"},
    {"rnn brnn birnn bilstm s2s seq2seq", "recurrent"},
    {"rnn elman vanilla", "tanh"},
    {"self_attention attention", "transformer"},
    {"cnn conv conv2d vgg img", "convolutional"},
    {"mrt risk sequence_risk rl reinforce expected_risk", "minimum_risk"},
    {"mle ml xent cross_entropy crossentropy nll label_smoothed_cross_entropy", "likelihood"},
    {"ppl", "perplexity"},
    {"xent cross_entropy crossentropy nll", "loss"},
    {"sacrebleu", "bleu"},
    {"flores101 flores200", "spm"},
    {"chrf2", "chrf"},
    {"chrf2++ chrfpp chrf_plus_plus", "chrf++"},
    {"noam inverse_sqrt invsqrt warmupinversesquareroot rsqrt inv_sqrt", "inverse_square_root"},
    {"reduce_lr_on_plateau", "plateau"},
    {"fixed none", "constant"},
    {"exponential_decay step", "exponential"},
    {"tokens", "token"},
    {"sentences sents examples", "sentence"},
    {"sentencepiece spm subword subwords subword_nmt wordpiece", "bpe"},
    {"char chars characters", "character"},
    {"words whitespace space", "word"},
    {"learnt embedding embeddings", "learned"},
    {"sine sin fixed_sinusoidal", "sinusoidal"},
    {"rope roformer relative", "rotary"},
    {"vocab generator softmax", "vocabulary"},
    {"copy_attn copynet pointer_generator", "copy"},
    {"wu google", "gnmt"},
    {"softmax decoder_embeddings", "output"},
    {"gpu", "cuda"},
    {"md", "markdown"},
    {"tex", "latex"},
    {"txt plain", "text"},
    {"characters", "char"},
};

}  // namespace

std::vector<std::string_view> synonyms(std::string_view word) {
  std::vector<std::string_view> result;
  for (const auto& [names, meanings] : table) {
    const auto all = split(names, ' ');
    if (std::ranges::find(all, word) == all.end()) continue;
    for (const auto meaning : split(meanings, ' ')) result.push_back(meaning);
  }
  return result;
}

}  // namespace regard
